"""What worker processes run: importable, so that spawned ones find it."""

import torch
from torch.utils.data import Dataset


class ByIndex(Dataset):
    """Augments with the index."""

    def __init__(self, images, augment):
        self.images, self.augment = images, augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.augment(torch.from_numpy(self.images[i]), index=i)


class ByPixels(ByIndex):
    """Augments as a torchvision transform does: from the image alone."""

    def __getitem__(self, i):
        return self.augment(torch.from_numpy(self.images[i]))
