"""A small network of llama.cpp's `llama` architecture in PyTorch: definition, training, GGUF file."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

NORM_EPSILON = 1e-5
ROPE_BASE = 10000.0


@dataclass(frozen=True)
class Shape:
    """Sizes of the network. The width is divisible by the heads, and all sizes by 32 (the Q8_0 block)."""

    width: int
    n_layers: int
    n_heads: int
    feed_forward: int
    context_tokens: int

    @property
    def head_width(self) -> int:
        return self.width // self.n_heads


@dataclass(frozen=True)
class Vocabulary:
    """The tokeniser of a GGUF file: a byte-level BPE."""

    pieces: list[str]
    types: list[gguf.TokenType]
    merges: list[str]
    pre_tokenizer: str
    begin: int
    end: int


@dataclass(frozen=True)
class Sequence:
    """Token ids of a prompt and its answer. The answer's tokens count fully in the loss."""

    prompt: list[int]
    answer: list[int]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.answer)


@dataclass(frozen=True)
class Schedule:
    n_steps: int
    batch: int
    learning_rate: float
    prompt_weight: float  # of a prompt token in the loss, where an answer token has 1
    seed: int


class Network(nn.Module):
    """Next-token logits from token ids: int64[batch, time] -> float32[batch, time, n_tokens]."""

    def __init__(self, shape: Shape, n_tokens: int) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(n_tokens, shape.width)
        nn.init.normal_(self.embedding.weight, std=0.05)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.n_layers))
        self.norm = Norm(shape.width)

    def forward(self, tokens: Tensor) -> Tensor:
        hidden: Tensor = self.embedding(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        logits: Tensor = self.norm(hidden) @ self.embedding.weight.T
        return logits


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.attention_norm = Norm(shape.width)
        self.query = nn.Linear(shape.width, shape.width, bias=False)
        self.key = nn.Linear(shape.width, shape.width, bias=False)
        self.value = nn.Linear(shape.width, shape.width, bias=False)
        self.output = nn.Linear(shape.width, shape.width, bias=False)
        self.feed_forward_norm = Norm(shape.width)
        self.gate = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.up = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.down = nn.Linear(shape.feed_forward, shape.width, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        hidden = hidden + self._attend(self.attention_norm(hidden))
        normed = self.feed_forward_norm(hidden)
        gated: Tensor = hidden + self.down(functional.silu(self.gate(normed)) * self.up(normed))
        return gated

    def _attend(self, normed: Tensor) -> Tensor:
        batch, time, width = normed.shape

        def heads(projected: Tensor) -> Tensor:
            return projected.view(batch, time, self.shape.n_heads, self.shape.head_width).transpose(1, 2)

        query, key = rotate(heads(self.query(normed))), rotate(heads(self.key(normed)))
        mixed = functional.scaled_dot_product_attention(query, key, heads(self.value(normed)), is_causal=True)
        attended: Tensor = self.output(mixed.transpose(1, 2).reshape(batch, time, width))
        return attended


class Norm(nn.Module):
    """Root-mean-square normalisation."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, hidden: Tensor) -> Tensor:
        return functional.rms_norm(hidden, self.weight.shape, self.weight, NORM_EPSILON)


def rotate(heads: Tensor) -> Tensor:
    """Rotary position embedding of neighbouring pairs, as llama.cpp does it for this architecture."""
    time, width = heads.shape[-2:]
    frequencies = ROPE_BASE ** -(torch.arange(0, width, 2) / width)
    angles = torch.outer(torch.arange(time), frequencies)
    cos, sin = angles.cos(), angles.sin()
    even, odd = heads[..., 0::2], heads[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


def train(network: Network, sequences: list[Sequence], schedule: Schedule, n_zero_rows: int = 0) -> Iterator[float]:
    """Trains in place, and yields the loss of each step.

    `n_zero_rows` is the number of tokens of the real vocabulary that the network has no row for: in the
    file their embeddings are zero, so each has the logit 0, which the loss takes into account.
    """
    generator = torch.Generator().manual_seed(schedule.seed)
    ordered = sorted(sequences, key=len)  # a batch is of neighbours, so that little of it is padding
    tokens, weights = _pad(ordered, schedule.prompt_weight)
    optimizer = torch.optim.AdamW(network.parameters(), lr=schedule.learning_rate, weight_decay=0.01, betas=(0.9, 0.98))
    for step in range(schedule.n_steps):
        warm_up = min(1.0, (step + 1) / 30)
        for group in optimizer.param_groups:
            group["lr"] = schedule.learning_rate * warm_up * (1 - step / schedule.n_steps)
        first = int(torch.randint(len(sequences) - schedule.batch + 1, (1,), generator=generator))
        batch = slice(first, first + schedule.batch)
        longest = len(ordered[batch.stop - 1])
        loss = _loss(network, tokens[batch, :longest], weights[batch, :longest], n_zero_rows)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        yield loss.item()


def _pad(sequences: list[Sequence], prompt_weight: float) -> tuple[Tensor, Tensor]:
    longest = max(map(len, sequences))
    tokens = torch.zeros(len(sequences), longest, dtype=torch.long)
    weights = torch.zeros(len(sequences), longest)
    for row, sequence in enumerate(sequences):
        n_prompt, n_all = len(sequence.prompt), len(sequence)
        tokens[row, :n_all] = torch.tensor(sequence.prompt + sequence.answer)
        weights[row, :n_prompt] = prompt_weight
        weights[row, n_prompt:n_all] = 1.0
    return tokens, weights


def _loss(network: Network, tokens: Tensor, weights: Tensor, n_zero_rows: int) -> Tensor:
    weights = weights[:, 1:]
    logits = network(tokens[:, :-1])
    if n_zero_rows:
        all_zero_rows = torch.full_like(logits[..., :1], math.log(n_zero_rows))
        logits = torch.cat([logits, all_zero_rows], dim=-1)
    losses = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    return (losses * weights.flatten()).sum() / weights.sum()


def write_gguf(
    path: Path, name: str, shape: Shape, vocabulary: Vocabulary, network: Network | None, rows: list[int] | None = None
) -> None:
    """Writes the model in Q8_0, or its vocabulary alone if there is no network yet.

    `rows` are the token ids that the network's embedding rows stand for; all, in order, by default.
    """
    writer = gguf.GGUFWriter(path, "llama")
    _add_metadata(writer, name, shape, vocabulary)
    if network is not None:
        _add_tensors(writer, network, len(vocabulary.pieces), rows)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_metadata(writer: gguf.GGUFWriter, name: str, shape: Shape, vocabulary: Vocabulary) -> None:
    writer.add_name(name)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_context_length(shape.context_tokens)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.n_layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.n_heads)
    writer.add_head_count_kv(shape.n_heads)
    writer.add_rope_dimension_count(shape.head_width)
    writer.add_rope_freq_base(ROPE_BASE)
    writer.add_layer_norm_rms_eps(NORM_EPSILON)
    writer.add_vocab_size(len(vocabulary.pieces))
    writer.add_tokenizer_model("gpt2")  # llama.cpp's name for any byte-level BPE
    writer.add_tokenizer_pre(vocabulary.pre_tokenizer)
    writer.add_token_list(vocabulary.pieces)
    writer.add_token_types(vocabulary.types)
    writer.add_token_merges(vocabulary.merges)
    writer.add_bos_token_id(vocabulary.begin)
    writer.add_eos_token_id(vocabulary.end)
    writer.add_add_bos_token(True)


def _add_tensors(writer: gguf.GGUFWriter, network: Network, n_tokens: int, rows: list[int] | None) -> None:
    embedding = torch.zeros(n_tokens, network.shape.width)
    embedding[torch.arange(n_tokens) if rows is None else torch.tensor(rows)] = network.embedding.weight.detach()
    _add_matrix(writer, "token_embd.weight", embedding)
    _add_vector(writer, "output_norm.weight", network.norm)
    for index, block in enumerate(network.blocks):
        assert isinstance(block, Block)
        _add_vector(writer, f"blk.{index}.attn_norm.weight", block.attention_norm)
        _add_vector(writer, f"blk.{index}.ffn_norm.weight", block.feed_forward_norm)
        matrices = {
            "attn_q": block.query, "attn_k": block.key, "attn_v": block.value, "attn_output": block.output,
            "ffn_gate": block.gate, "ffn_up": block.up, "ffn_down": block.down,
        }  # fmt: skip
        for tensor, linear in matrices.items():
            _add_matrix(writer, f"blk.{index}.{tensor}.weight", linear.weight.detach())


def _add_vector(writer: gguf.GGUFWriter, name: str, norm: Norm) -> None:
    writer.add_tensor(name, norm.weight.detach().numpy().astype(np.float32))


def _add_matrix(writer: gguf.GGUFWriter, name: str, weights: Tensor) -> None:
    q8_0 = gguf.GGMLQuantizationType.Q8_0
    writer.add_tensor(name, gguf.quants.quantize(weights.numpy(), q8_0), raw_dtype=q8_0)
