"""A small GPT: it reads one nursery rhyme, letter by letter, and learns to go on with it.

    python examples/gpt.py                 on minipaddle
    python examples/gpt.py --paddle        the same file on real Paddle

A GPT sees T letters and guesses the next one after each of them. A letter's vector passes through
blocks; in each block it first looks at the letters before it (attention), then thinks for itself
(two linear layers). What a block computes is added to what came in.

    letters [B, T] --- embedding + position --- block --- block --- layer norm --- scores [B, T, V]
"""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

import numpy as np

# real Paddle or this one: the rest of the file is the same for both
paddle: Any = importlib.import_module("paddle" if "--paddle" in sys.argv else "minipaddle")
nn = paddle.nn
F = paddle.nn.functional

STEPS, BATCH, LENGTH = 400, 8, 48
WIDTH, HEADS, LAYERS = 64, 4, 2

ENDS = [
    "the house that Jack built.",
    "the malt that lay in ",
    "the rat that ate ",
    "the cat that killed ",
    "the dog that worried ",
    "the cow with the crumpled horn that tossed ",
    "the maiden all forlorn that milked ",
    "the man all tattered and torn that kissed ",
    "the priest all shaven and shorn that married ",
]


def rhyme() -> str:
    """This is the house that Jack built: each verse puts a new line before the old ones."""
    verses = ["This is " + "".join(ENDS[number::-1]) for number in range(len(ENDS))]
    return "\n".join(verses) + "\n"


TEXT = rhyme()
LETTERS = sorted(set(TEXT))
NUMBERS = np.array([LETTERS.index(letter) for letter in TEXT], "int64")


# -- the model ---------------------------------------------------------------------------------


class CausalSelfAttention(nn.Layer):
    """Each place takes a weighted mean of the places up to itself: x [B, T, C] -> [B, T, C].

    The weights say how well what a place looks for (query) fits what another has (key).
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        length, width = x.shape[1], x.shape[2]
        size = width // self.heads

        def by_head(part: Any) -> Any:  # [B, T, C] -> [B, heads, T, C / heads]
            return part.reshape([-1, length, self.heads, size]).transpose([0, 2, 1, 3])

        query, key, value = (by_head(part) for part in paddle.split(self.qkv(x), 3, axis=-1))
        scores = paddle.matmul(query, key, transpose_y=True) * size**-0.5
        future = paddle.triu(paddle.full([length, length], -1e9), diagonal=1)  # not yet written
        weights = F.softmax(scores + future, axis=-1)
        mixed = paddle.matmul(weights, value).transpose([0, 2, 1, 3])
        return self.out(mixed.reshape([-1, length, width]))


class Block(nn.Layer):
    """Attention, then two linear layers; each adds to x [B, T, C]."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = CausalSelfAttention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Any) -> Any:
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.mlp(self.norm2(x)))


class GPT(nn.Layer):
    """Letters [B, T] of int64 -> scores of the next letter [B, T, V].

    Args:
        letters: V, how many different ones there are.
        length: the longest T.
        tied: the scores come from the embedding's own matrix, not from one more linear layer.
    """

    def __init__(
        self,
        letters: int,
        length: int,
        width: int = WIDTH,
        heads: int = HEADS,
        layers: int = LAYERS,
        dropout: float = 0.0,
        tied: bool = True,
    ) -> None:
        super().__init__()
        small = paddle.ParamAttr(initializer=nn.initializer.Normal(0.0, 0.1))
        self.letter = nn.Embedding(letters, width, weight_attr=small)
        self.place = nn.Embedding(length, width, weight_attr=small)
        self.blocks = nn.LayerList([Block(width, heads, dropout) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = None if tied else nn.Linear(width, letters, bias_attr=False)

    def forward(self, letters: Any) -> Any:
        places = paddle.arange(letters.shape[1])
        x = self.letter(letters) + self.place(places)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        if self.head is None:
            return paddle.matmul(x, self.letter.weight, transpose_y=True)
        return self.head(x)


def loss_of(model: Any, letters: Any, following: Any) -> Any:
    """The mean of -log(probability of the right next letter)."""
    scores = model(letters)
    return F.cross_entropy(scores.reshape([-1, scores.shape[-1]]), following.reshape([-1]))


# -- training ----------------------------------------------------------------------------------


def make_optimizer(model: Any, steps: int) -> tuple[Any, Any]:
    """AdamW with a warm start; matrices decay, biases and norms don't."""
    rate = paddle.optimizer.lr.CosineAnnealingDecay(3e-3, T_max=max(steps - 20, 1), eta_min=3e-4)
    rate = paddle.optimizer.lr.LinearWarmup(rate, 20, start_lr=0.0, end_lr=3e-3)
    matrices = {parameter.name for parameter in model.parameters() if len(parameter.shape) > 1}
    optimizer = paddle.optimizer.AdamW(
        rate,
        parameters=model.parameters(),
        weight_decay=0.01,
        apply_decay_param_fun=lambda name: name in matrices,
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )
    return optimizer, rate


def batch(rng: np.random.Generator) -> tuple[Any, Any]:
    """BATCH pieces of the text [B, T], and the same one letter later."""
    starts = rng.integers(0, len(NUMBERS) - LENGTH - 1, BATCH)
    pieces = np.stack([NUMBERS[start : start + LENGTH + 1] for start in starts])
    return paddle.to_tensor(pieces[:, :-1]), paddle.to_tensor(pieces[:, 1:])


def train(model: Any, steps: int = STEPS, show: bool = True) -> list[float]:
    """Trains; returns the loss of each step."""
    rng = np.random.default_rng(0)
    optimizer, rate = make_optimizer(model, steps)
    losses = []
    model.train()
    for step in range(steps):
        loss = loss_of(model, *batch(rng))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        losses.append(float(loss))
        if show and (step % 50 == 0 or step == steps - 1):
            print(
                f"step {step:4d}   loss {losses[-1]:.4f}   learning rate {optimizer.get_lr():.1e}"
            )
    return losses


def sample(model: Any, start: str, count: int) -> str:
    """Goes on from `start`, always with the letter that the model finds most likely."""
    model.eval()
    text = start
    with paddle.no_grad():
        for _ in range(count):
            seen = [LETTERS.index(letter) for letter in text[-LENGTH:]]
            scores = model(paddle.to_tensor([seen], "int64")).numpy()
            text += LETTERS[int(scores[0, -1].argmax())]
    return text


def main() -> None:
    paddle.seed(7)
    model = GPT(len(LETTERS), LENGTH)
    count = sum(int(np.prod(parameter.shape)) for parameter in model.parameters())
    print(f"{paddle.__name__}: {count} numbers to learn from {len(TEXT)} letters")
    begin = time.perf_counter()
    train(model)
    print(f"{STEPS} steps in {time.perf_counter() - begin:.1f} s")
    print(sample(model, "This is the cow", 120))


if __name__ == "__main__":
    main()
