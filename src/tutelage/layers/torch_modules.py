"""σ(V X S) as a PyTorch module; imported only where PyTorch is asked for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

FUNCTIONS = {
    "identity": torch.nn.Identity(),
    "relu": torch.nn.functional.relu,
    "erf": torch.erf,
    "tanh": torch.tanh,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
}


class Bilinear(torch.nn.Module):  # type: ignore[misc]  # PyTorch may be absent
    """A teacher (`value`, `selection`) or a student (`value`, `key_query`, codes): matrices that
    training moves are parameters, the others buffers.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        super().__init__()
        moving = ("value", "selection") if "selection" in arrays else ("value", "key_query")
        for name, array in arrays.items():
            tensor = torch.tensor(array)
            if name in moving:
                self.register_parameter(name, torch.nn.Parameter(tensor))
            else:
                self.register_buffer(name, tensor)
        self.names = tuple(arrays)

    def attention(self) -> torch.Tensor:
        """S."""
        if "selection" in self.names:
            return self.selection
        scores = self.key_query
        if "key_codes" in self.names:
            asked = self.query_codes if "query_codes" in self.names else self.key_codes
            scores = self.key_codes.T @ scores @ asked
        return torch.softmax(self.attention_scale * scores, dim=0)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        inside = self.value @ tokens @ self.attention()
        name = bytes(self.activation.tolist()).decode()
        if name.startswith("leaky_relu"):
            return torch.nn.functional.leaky_relu(inside, float(name[len("leaky_relu(") : -1]))
        return FUNCTIONS[name](inside)
