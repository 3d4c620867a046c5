"""Names of a configuration: entries of a registry, and classes as `module:Class`."""

import difflib
import importlib
import inspect
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator

from rse_study.errors import InputError, first_line
from rse_study.spec import fingerprint_of

T = TypeVar("T")


class Registry(Generic[T]):
    """Entries that a configuration chooses by name, listed in a folder's `__init__`."""

    def __init__(self, noun: str, entries: dict[str, T] | None = None) -> None:
        self.noun, self._entries = noun, dict(entries or {})

    def add(self, name: str, entry: T) -> T:
        """Register `entry` under a name that is still free."""
        assert name not in self._entries, f"{self.noun} {name} is registered twice"
        self._entries[name] = entry
        return entry

    def get(self, name: str, *, where: str = "") -> T:
        """Return the entry called `name`; InputError suggests a similar name."""
        if name in self._entries:
            return self._entries[name]
        raise InputError(
            f"no such {self.noun} {name!r}", where=where, remedy=did_you_mean(name, self._entries)
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Return "Did you mean 'x'?" if a name is similar, else list the options.

    >>> did_you_mean("num_step", ["num_steps", "sigma"])
    "Did you mean 'num_steps'?"
    """
    names = [str(option) for option in options]
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"Known: {', '.join(sorted(names))}" if names else ""


def is_class_path(text: str) -> bool:
    """Whether a text has the form `module:Class`."""
    return re.fullmatch(r"[^\W\d][\w.]*:[^\W\d]\w*", text) is not None


def _checked(text: str) -> str:
    if not is_class_path(text):
        raise ValueError(f"{text!r} must be module:Class. For example: my_samplers:MySampler")
    return text


ClassPath = Annotated[str, AfterValidator(_checked)]


def import_class(path: str, *, what: str, folder: Path = Path(), bases: Sequence[str] = ()) -> type:
    """Import a class from a package, the study's folder, or the working folder.

    It must derive from one of `bases`, paths such as `optuna.samplers.BaseSampler`. These are not imported here: a
    class that derives from one has done so.
    """
    module, _, name = path.partition(":")
    try:
        with _on_path(folder, Path.cwd()):
            found = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        rule = f"cannot be imported ({type(error).__name__}: {first_line(error)})"
        remedy = f"{folder.resolve()} and the working folder are looked in, and what is installed"
        if any((place / f"{module}.py").is_file() for place in (folder, Path.cwd())):
            remedy = f"{module}.py was found, and fails when it is imported: mend it"
        raise InputError(what, rule=rule, remedy=remedy) from error
    cls = getattr(found, name, None)
    if cls is None:
        classes = [one for one, value in vars(found).items() if isinstance(value, type)]
        remedy, own = did_you_mean(name, classes), folder.resolve() / f"{module}.py"
        if own.is_file() and str(own) != getattr(found, "__file__", None):
            remedy = f"{own} was not looked at, because {module} is installed: rename the file"
        raise InputError(what, rule=f"{module} has no {name}", remedy=remedy)
    if not isinstance(cls, type) or (bases and not any(derives_from(cls, base) for base in bases)):
        rule, remedy = f"is no subclass of {' or '.join(bases)}", "Derive it from that"
        raise InputError(what, rule=rule if bases else "is no class", remedy=remedy if bases else "")
    if inspect.isabstract(cls):
        rule = f"lacks {', '.join(sorted(vars(cls)['__abstractmethods__']))}"
        raise InputError(what, rule=rule, remedy="Define what its base class leaves open")
    return cls


def source_of_class(path: str, *, what: str, folder: Path, bases: Sequence[str] = ()) -> str:
    """Import a class; return the source of a file beside the study, else nothing.

    No worker finds such a file: `class_of` makes the class there.
    """
    import_class(path, what=what, folder=folder, bases=bases)
    name = path.partition(":")[0]
    file = Path(getattr(sys.modules[name], "__file__", None) or sys.executable)
    if file.parent.resolve() in (folder.resolve(), Path.cwd()):
        source = file.read_text(encoding="utf-8")
        imported = re.findall(r"^\s*(?:from|import)\s+(\w+)", source, re.MULTILINE)
        if beside := [one for one in imported if file.with_name(f"{one}.py").exists()]:
            rule = f"it imports {beside[0]}, which no worker finds"
            raise InputError(what, rule=rule, remedy="Put all of it into one file")
        return source
    if not PathFinder.find_spec(name.partition(".")[0], sys.path):
        rule, remedy = "is in a package that no worker finds", "Put it into one file, or install the package"
        raise InputError(what, rule=rule, remedy=remedy)
    return ""


def class_of(source: str, path: str, *, what: str) -> type:
    """Return the class in a source from `source_of_class`; without one, import it."""
    module_name, _, cls = path.partition(":")
    name = f"{module_name.replace('.', '_')}_{fingerprint_of(source)[:12]}" if source else module_name
    if source and name not in sys.modules:
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = f"{module_name}.py"
        try:
            exec(compile(source, module.__file__, "exec"), vars(module))
        except Exception as error:
            del sys.modules[name]
            rule = f"no worker can import it ({type(error).__name__}: {first_line(error)})"
            raise InputError(what, rule=rule, remedy="Put all of it into one file") from None
    return import_class(f"{name}:{cls}", what=what)


def derives_from(cls: type, base: str) -> bool:
    """Whether a class derives from another one, given by its path; imports nothing."""
    module, _, name = base.rpartition(".")
    found = getattr(sys.modules.get(module), name, None)
    return found is not None and issubclass(cls, found)


def require_members(made: object, protocol: type, *, what: str) -> None:
    """Raise InputError where an object lacks a member of a protocol."""
    missing = [name for name in dir(protocol) if not name.startswith("_") and not hasattr(made, name)]
    if missing:
        remedy = f"{protocol.__module__}.{protocol.__name__} says what each is for"
        raise InputError(what, rule=f"lacks {', '.join(missing)}", remedy=remedy)


def construct(cls: type, *, settings: Mapping[str, Any], named: str, what: str) -> Any:
    """Return a new object of the class; InputError where its constructor refuses."""
    try:
        # Many of Optuna's warn that their interface may change; nobody who names one can do anything about it.
        with warnings.catch_warnings():
            if optuna := sys.modules.get("optuna.exceptions"):
                warnings.simplefilter("ignore", optuna.ExperimentalWarning)
            return cls(**settings)
    except (Exception, SystemExit) as error:
        parameters = list(inspect.signature(cls).parameters)
        unknown = [name for name in settings if name not in parameters]
        hint = did_you_mean(unknown[0], parameters) if unknown else ""
        hint = f"{hint} " if hint.startswith("Did") else ""
        rule = f"{named} cannot be made ({type(error).__name__}: {first_line(error)})"
        remedy = f"{hint}It takes: {', '.join(parameters) or 'none'}"
        raise InputError(what, rule=rule, remedy=remedy) from error


@contextmanager
def _on_path(*folders: Path) -> Iterator[None]:
    # Last: what the module itself imports may not be taken from a random.py beside the study.
    places = [place for place in (str(one.resolve()) for one in folders) if place not in sys.path]
    sys.path += places
    try:
        yield
    finally:
        for place in places:
            with suppress(ValueError):  # the module itself may change the path
                sys.path.remove(place)
