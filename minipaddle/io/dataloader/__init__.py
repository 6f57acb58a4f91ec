"""What a DataLoader is made of. Paddle: python/paddle/io/dataloader/."""
