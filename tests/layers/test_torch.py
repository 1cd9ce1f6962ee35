"""Layers of PyTorch for real: `make test-torch` installs its CPU build."""

import json

import numpy as np
import pytest

import tutelage as tt
from tutelage.claims import Status
from tutelage.cli import main

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: `make test-torch` installs it and runs these."
)
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("adam_allowed")]
nn = torch.nn
SMALL = {"steps": 0, "fresh": 128, "probes": 12}


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def trained_norm(norm, images):
    norm.train()
    for _ in range(5):
        norm(2 * images + 0.1)
    return norm


def test_convolution_with_mean_pooling_is_a_member_and_its_kernels_are_v():
    conv = nn.Conv2d(2, 3, 3, stride=3, bias=False)
    net = nn.Sequential(conv, nn.AvgPool2d(2), nn.ReLU())
    found = tt.learn(net, tokens=tt.Patches(3), shape=(2, 6, 6), **SMALL)
    assert found.answer == "member"
    assert max(fact.residual for fact in found.facts) < 1e-24
    kernels = conv.weight.detach().double().numpy().reshape(3, 18)
    np.testing.assert_allclose(found.value, kernels, atol=1e-12)
    np.testing.assert_allclose(found.selection, 0.25, atol=1e-12)
    assert found.framework == "PyTorch"


def test_batch_normalisation_is_folded_wherever_it_stands():
    conv = nn.Conv2d(1, 4, 2, stride=2)
    norm = trained_norm(nn.BatchNorm2d(4), torch.randn(32, 4, 3, 3))
    with torch.no_grad():
        norm.weight.uniform_(0.5, 2.0)
        norm.bias.uniform_(-0.1, 0.1)
    for order in ([conv, norm, nn.ReLU()], [conv, nn.ReLU(), norm]):
        found = tt.learn(nn.Sequential(*order), tokens=tt.Patches(2), shape=(1, 6, 6), **SMALL)
        assert found.answer == "member up to a bias"
        assert "BatchNorm2d in eval mode" in found.sentence
    gains = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    first = tt.learn(
        nn.Sequential(conv, norm, nn.ReLU()), tokens=tt.Patches(2), shape=(1, 6, 6), **SMALL
    )
    folded = (gains[:, None] * conv.weight.reshape(4, 4)).detach().numpy()
    np.testing.assert_allclose(first.value, folded, rtol=1e-5)


def test_the_users_module_is_left_as_it_was():
    net = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5), nn.ReLU()).train()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    found = tt.learn(net, tokens=tt.Sequence(), shape=(5, 4), **SMALL)
    assert found.answer == "member up to a bias"
    assert "Dropout is off" in found.sentence
    assert net.training
    assert torch.get_default_dtype() is torch.float32
    assert all(p.requires_grad and p.dtype is torch.float32 for p in net.parameters())
    assert all(torch.equal(before[name], tensor) for name, tensor in net.state_dict().items())


def test_jacobians_are_those_of_torch_func():
    """Another way to the same numbers: one backward pass per output for all inputs, against
    functorch.
    """
    from tutelage.layers.torch_layer import TorchLayer

    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh())
    own = TorchLayer(net, batched=True, output=None, arguments=())
    inputs = np.random.default_rng(0).normal(size=(5, 2, 4))
    found = own.slopes(inputs, np.arange(6))
    double = nn.Sequential(nn.Linear(4, 3), nn.Tanh()).double()
    double.load_state_dict(net.state_dict())
    twin = torch.func.vmap(torch.func.jacrev(double))(torch.tensor(inputs))
    np.testing.assert_allclose(found.values, twin.reshape(5, 6, 2, 4).detach().numpy(), atol=1e-14)


def test_max_pooling_switches_and_attention_reads_by_content():
    pool = nn.Sequential(nn.Conv2d(1, 3, 2, stride=2), nn.MaxPool2d(2))
    assert tt.learn(pool, tokens=tt.Patches(2), shape=(1, 8, 8), **SMALL).answer == "switching"

    class SelfAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x):
            return self.attention(3 * x, 3 * x, x)

    found = tt.learn(SelfAttention(), tokens=tt.Sequence(), shape=(6, 8), output=0, **SMALL)
    assert found.kind is tt.Kind.CONTENT
    assert found.member is Status.FAILS


def test_a_residual_block_is_named():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.inside = nn.Sequential(nn.Linear(4, 4), nn.GELU())

        def forward(self, x):
            return x + self.inside(x)

    model = nn.ModuleDict({"encoder": nn.ModuleList([Block(), Block()])})
    found = tt.learn(tt.layer(model, "encoder.1"), tokens=tt.Sequence(), shape=(5, 4), **SMALL)
    assert found.answer == "X plus: member up to a bias"
    assert found.activation.name == "gelu"
    with pytest.raises(tt.Refused, match="has no such part"):
        tt.layer(model, "encoder.2")


def test_further_arguments_are_cast_and_passed():
    class Graph(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Linear(3, 2, bias=False)

        def forward(self, x, adjacency):
            return torch.relu(adjacency @ self.weight(x))

    adjacency = torch.tensor(np.asarray(tt.neighbourhoods(tt.cycle(6)).T), dtype=torch.float32)
    found = tt.learn(
        Graph(), tokens=tt.Nodes(), shape=(6, 3), arguments=(adjacency,), tolerance=1e-10, **SMALL
    )
    assert found.answer == "member"
    assert found.support == (3,) * 6


def test_a_function_of_tensors_is_one_too():
    weight = torch.randn(3, 4, dtype=torch.float64)
    found = tt.learn(
        lambda x: torch.relu(x @ weight.T), framework="torch", batched=False,
        tokens=tt.Sequence(), shape=(5, 4), **SMALL,
    )  # fmt: skip
    assert found.answer == "member"


@pytest.mark.parametrize(
    ("forward", "words"),
    [
        (lambda x: torch.dropout(x, 0.5, True), "draws random numbers"),
        (lambda x: x - x.mean(0, keepdim=True), "must treat the inputs of a batch apart"),
        (lambda x: x.cuda(), "must run on the CPU"),
        (lambda x: torch.log(x), "must return finite numbers"),
        (lambda x: torch.complex(x, x), "must return real numbers"),
        (lambda x: x.sum(), "must return one output per input"),
    ],
)
def test_modules_that_are_no_functions_are_refused(forward, words):
    class Wrong(nn.Module):
        def forward(self, x):
            return forward(x)

    with pytest.raises(tt.Refused, match=words):
        tt.learn(Wrong(), tokens=tt.Sequence(), shape=(5, 4), **SMALL)


def test_a_module_with_a_state_is_refused():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, x):
            self.seen += 1
            return x * self.seen

    with pytest.raises(tt.Refused, match="keeps a state"):
        tt.learn(Counter(), tokens=tt.Sequence(), shape=(5, 4), **SMALL)


def test_a_lazy_module_is_asked_to_be_called_first():
    with pytest.raises(tt.Refused, match="call a lazy module once first"):
        tt.learn(nn.LazyLinear(3), tokens=tt.Sequence(), shape=(5, 4), **SMALL)


def test_a_module_that_leaves_pytorch_is_differenced():
    class Leaves(nn.Module):
        def forward(self, x):
            return torch.tensor(np.maximum(x.detach().numpy(), 0.0))

    found = tt.learn(Leaves(), tokens=tt.Sequence(), shape=(4, 3), **SMALL)
    assert found.answer == "member"
    assert 0 < found.error < 1e-6


@pytest.mark.parametrize("sigma", ["identity", "relu", "leaky_relu(0.3)", "erf", "tanh", "gelu"])
def test_teachers_and_students_go_to_pytorch_and_back(sigma, tmp_path):
    draw = np.random.default_rng(0)
    teacher = tt.BilinearTeacher(draw.normal(size=(2, 3)), tt.pooling(4, 2), sigma)
    student = tt.PositionAttention.random(teacher, scale=1.0, key=tt.stream(0, "start"))
    X = draw.normal(size=(5, 3, 4))
    for part in (teacher, student):
        module = tt.to_torch(part)
        twin = np.stack([np.asarray(part(x)) for x in X])
        np.testing.assert_allclose(module(torch.tensor(X)).detach().numpy(), twin, atol=1e-12)
        back = tt.from_state_dict(module.state_dict())
        assert type(back) is type(part)
        np.testing.assert_array_equal(np.stack([np.asarray(back(x)) for x in X]), twin)
        torch.save(module.state_dict(), tmp_path / "part.pt")
        again = tt.from_state_dict(tmp_path / "part.pt")
        np.testing.assert_array_equal(np.asarray(again.value), np.asarray(part.value))
    assert dict(tt.to_torch(student).named_parameters()).keys() == {"value", "key_query"}


def test_learned_codes_cross_too():
    teacher = tt.BilinearTeacher(np.eye(3), tt.pooling(4, 2))
    codes = np.random.default_rng(0).normal(size=(5, 4))
    student = tt.PositionAttention.random(
        teacher, scale=1.0, key=tt.stream(0, "start"), key_codes=codes
    )
    module = tt.to_torch(student)
    np.testing.assert_allclose(
        module.attention().detach().numpy(), np.asarray(student.attention()), atol=1e-12
    )
    back = tt.from_state_dict(module.state_dict())
    np.testing.assert_array_equal(np.asarray(back.attention()), np.asarray(student.attention()))


def test_heads_of_a_checkpoint_of_pytorch_are_its_attention(tmp_path):
    attention = nn.MultiheadAttention(6, 2, batch_first=True, bias=True).double()
    with torch.no_grad():
        attention.in_proj_bias.normal_()
        attention.out_proj.weight.copy_(torch.eye(6))
    torch.save(attention.state_dict(), tmp_path / "model.pt")
    x = torch.randn(1, 5, 6, dtype=torch.float64)
    output, weights = attention(x, x, x, average_attn_weights=False)
    heads = tt.attention_heads(tmp_path / "model.pt", 2)
    ours = [np.asarray(head(x[0].numpy())) for head in heads]
    np.testing.assert_allclose(np.concatenate(ours, 1), output[0].detach().numpy(), atol=1e-12)
    for number, head in enumerate(heads):
        np.testing.assert_allclose(
            np.asarray(head.weights(x[0].numpy())), weights[0, number].detach().numpy(), atol=1e-12
        )


def test_the_command_takes_a_module_from_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(
        "from torch import nn\n"
        "net = nn.Sequential(nn.Conv2d(1, 2, 2, stride=2, bias=False), nn.ReLU())\n"
    )
    with pytest.raises(SystemExit) as ended:
        main(
            ["learn", "my.py:net", "--tokens", "patches:2", "--shape", "1,4,4", "--steps", "200",
             "--fresh", "100", "--json"]
        )  # fmt: skip
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answer"] == "member"
    assert found["framework"] == "PyTorch"
    assert found["explained"]["exact"]
