"""`python -m liewise` is `liewise`."""

from liewise.cli import main

main()
