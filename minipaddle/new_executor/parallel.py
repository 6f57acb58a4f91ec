"""Runs instructions side by side, on several threads, as their dependencies allow.

The results are those of the serial run, bit for bit. So are the errors: if several instructions
fail, the first in the program's order is reported, and none that comes after it starts any more.

Python lets only one thread run at a time, except inside a long numpy call. So this is for large
arrays; for small ones it is slower than the serial run.

Paddle: MultiThreadRunImpl in paddle/fluid/framework/new_executor/program_interpreter.cc, and
new_executor/workqueue/. There it is what happens unless FLAGS_new_executor_serial_run is set.
"""

from __future__ import annotations

import contextvars
import heapq
import os
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from minipaddle.new_executor.instruction import InstructionList
from minipaddle.new_executor.interpreter import FunctionWriter, Interpreter, results_of


class ParallelInterpreter(Interpreter):
    """A lowered program, each instruction compiled by itself.

    Attributes:
        dependencies: per instruction, the numbers of those for which it waits.
    """

    def __init__(self, plan: InstructionList, xp: ModuleType = np) -> None:
        self.dependencies = plan.dependencies()
        super().__init__(plan, xp)

    def compile(self) -> None:
        """Writes and compiles one piece of text per instruction, all for the same variables."""
        writer = FunctionWriter(self.xp)
        ranges = []
        for instruction in self.plan.instructions:
            start = len(writer.lines)
            writer.instruction(instruction)
            ranges.append((start, len(writer.lines)))
        self.lines, self.around, self.constants = writer.numbers, writer.around, writer.constants
        self.text = writer.text()
        # empty lines in front, so that an error has the line number of the whole text
        self.codes: list[CodeType] = [
            compile("\n" * start + "\n".join(writer.lines[start:end]), self.filename, "exec")
            for start, end in ranges
        ]
        result = "\n" * len(writer.lines) + results_of(self.plan)
        self.result = compile(result, self.filename, "eval")

    def function(self, feeds: list[Any], parameters: list[Any]) -> tuple:
        """Runs all instructions. Raises what the first failing one raises."""
        plan = self.plan
        values = dict(self.constants)  # the variables, and the kernels
        values.update(zip([variable for variable, _ in plan.feeds.values()], feeds, strict=True))
        values.update(zip(plan.scope_reads.values(), parameters, strict=True))
        touched = [{*item.reads(), *item.writes()} for item in plan.instructions]
        uses: dict[str, int] = {}  # variable -> the instructions that have yet to touch it
        for names in touched:
            for name in names:
                uses[name] = uses.get(name, 0) + 1
        needed = {*plan.fetches, *plan.scope_writes.values()}
        waiting = [len(numbers) for numbers in self.dependencies]
        followers: list[list[int]] = [[] for _ in waiting]
        for number, numbers in enumerate(self.dependencies):
            for other in numbers:
                followers[other].append(number)

        done: SimpleQueue = SimpleQueue()

        def work(number: int) -> None:
            try:
                exec(self.codes[number], values)
                values["_"] = None  # what nobody wants
            except Exception as error:  # goes to the thread that waits
                done.put((number, error))
            else:
                done.put((number, None))

        ready = [number for number, count in enumerate(waiting) if count == 0]  # a heap
        failed: tuple[int, Exception] | None = None
        running, threads = 0, max(2, os.cpu_count() or 1)
        with ThreadPoolExecutor(threads) as pool:
            while ready or running:
                while ready and running < threads:
                    number = heapq.heappop(ready)
                    if failed is None or number < failed[0]:
                        # in a copy of the context: numpy.errstate holds for the threads too
                        pool.submit(contextvars.copy_context().run, work, number)
                        running += 1
                if running == 0:
                    break
                number, error = done.get()
                running -= 1
                if error is not None:
                    if failed is None or number < failed[0]:
                        failed = number, error
                    continue
                for name in touched[number]:
                    uses[name] -= 1
                    if uses[name] == 0 and name not in needed:
                        values.pop(name, None)
                for follower in followers[number]:
                    waiting[follower] -= 1
                    if waiting[follower] == 0:
                        heapq.heappush(ready, follower)
        if failed is not None:
            raise failed[1]
        return eval(self.result, values)
