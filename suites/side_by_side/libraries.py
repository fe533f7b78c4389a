# SPDX-License-Identifier: Apache-2.0
"""What the formulations ask of an array library: put, compile, add rows, wait. `dtype` is that of
all numbers put."""

import os
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np


class Library(Protocol):
    name: str
    programs: int  # compiled so far; 0 where nothing is compiled

    def put(self, values: Any) -> Any: ...
    def put_index(self, values: Any) -> Any: ...
    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]: ...
    def rows(self, row: Any, count: int) -> Any: ...
    def add_rows(self, out: Any, at: Any, terms: Any) -> Any: ...
    def wait(self, out: Any) -> Any: ...
    def host(self, out: Any) -> Any: ...


class NumPy:
    programs = 0

    def __init__(self, dtype: str = "float32") -> None:
        self.name, self.dtype = f"numpy {np.__version__}", np.dtype(dtype)

    def put(self, values: Any) -> Any:
        return np.asarray(values, self.dtype)

    def put_index(self, values: Any) -> Any:
        return np.asarray(values)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: function(np, *arguments)

    def rows(self, row: Any, count: int) -> Any:
        return np.tile(row, (count, 1))

    def add_rows(self, out: Any, at: Any, terms: Any) -> Any:
        np.add.at(out, at, terms)
        return out

    def wait(self, out: Any) -> Any:
        return out

    def host(self, out: Any) -> Any:
        return np.asarray(out, np.float64)


class Jax:
    def __init__(self, device: str, dtype: str = "float32", products: str = "highest") -> None:
        # The suite's process needs memory of the same GPU.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        self.jax, self.jnp, self.dtype = jax, jax.numpy, np.dtype(dtype)
        jax.config.update("jax_enable_x64", dtype == "float64")
        self.name = f"jax {jax.__version__}"
        self.device = jax.devices("cpu" if device == "host" else "gpu")[0]
        # A plain f32 product may use TF32 on a GPU: the same arithmetic is compared.
        jax.config.update("jax_default_matmul_precision", products)
        self.functions: list[Any] = []
        self.add = self.jit(lambda out, at, terms: out.at[at].add(terms), donate_argnums=0)

    @property
    def programs(self) -> int:
        return sum(function._cache_size() for function in self.functions)

    def jit(self, function: Callable[..., Any], **options: Any) -> Any:
        self.functions.append(self.jax.jit(function, **options))
        return self.functions[-1]

    def put(self, values: Any) -> Any:
        return self.jax.device_put(np.asarray(values, self.dtype), self.device)

    def put_index(self, values: Any) -> Any:
        return self.jax.device_put(np.asarray(values, np.int32), self.device)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.jit(lambda *arguments: function(self.jnp, *arguments))

    def rows(self, row: Any, count: int) -> Any:
        return self.jnp.tile(row, (count, 1))

    def add_rows(self, out: Any, at: Any, terms: Any) -> Any:
        return self.add(out, self.put_index(at), terms)

    def wait(self, out: Any) -> Any:
        return out.block_until_ready()

    def host(self, out: Any) -> Any:
        return np.asarray(out, np.float64)


class Torch:
    programs = 0

    def __init__(self, device: str, dtype: str = "float32") -> None:
        import torch

        self.torch, self.dtype = torch, np.dtype(dtype)
        self.name = f"torch {torch.__version__}"
        self.device = torch.device("cpu" if device == "host" else "cuda")
        torch.backends.cuda.matmul.allow_tf32 = False

    def put(self, values: Any) -> Any:
        return self.torch.as_tensor(np.asarray(values, self.dtype), device=self.device)

    def put_index(self, values: Any) -> Any:
        return self.torch.as_tensor(np.asarray(values, np.int64), device=self.device)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.torch.compile(lambda *arguments: function(self.torch, *arguments), dynamic=True)

    def rows(self, row: Any, count: int) -> Any:
        return row.repeat(count, 1)

    def add_rows(self, out: Any, at: Any, terms: Any) -> Any:
        return out.index_add_(0, self.put_index(at), terms)

    def wait(self, out: Any) -> Any:
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()
        return out

    def host(self, out: Any) -> Any:
        return out.double().cpu().numpy()


# Constructors that take the device, the number type and the arithmetic of products.
LIBRARIES: dict[str, Callable[[str, str, str], Library]] = {
    "jax": Jax,
    "torch": lambda device, dtype, products: Torch(device, dtype),
    "numpy": lambda device, dtype, products: NumPy(dtype),
}
