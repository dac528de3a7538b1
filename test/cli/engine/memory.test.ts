import { expect, test } from 'vitest'
import { IdleMemory, processUsage } from '../../../src/cli/engine/memory.ts'

const MB = 1024 * 1024

/** A look: the process, its ticks, its memory in MiB, and whether the engine is to collect. */
type Look = readonly [pid: number, ticks: number, memory: number, collects: boolean]

test.each<[what: string, looks: readonly Look[]]>([
  [
    'it collects when it is idle again, and once',
    [
      [1, 100, 80, false],
      [1, 600, 140, false],
      [1, 605, 140, true],
      [1, 610, 100, false],
      [1, 611, 100, false],
    ],
  ],
  [
    'and again after the next busy time',
    [
      [1, 100, 80, false],
      [1, 101, 80, true],
      [1, 102, 70, false],
      [1, 500, 140, false],
      [1, 501, 140, true],
      [1, 502, 75, false],
    ],
  ],
  [
    'a collection that frees nothing is not repeated',
    [
      [1, 100, 80, false],
      [1, 102, 140, true],
      [1, 110, 140, false],
      [1, 111, 140, false],
    ],
  ],
  [
    'while it works it does not collect',
    [
      [1, 100, 80, false],
      [1, 200, 140, false],
      [1, 300, 200, false],
    ],
  ],
  [
    'a little garbage is not worth it',
    [
      [1, 100, 80, false],
      [1, 101, 80, true],
      [1, 102, 80, false],
      [1, 103, 95, false],
      [1, 104, 96, true],
    ],
  ],
  [
    'the garbage counts from the least memory that it had',
    [
      [1, 100, 80, false],
      [1, 101, 80, true],
      [1, 102, 80, false],
      [1, 103, 60, false],
      [1, 104, 77, true],
    ],
  ],
  [
    'an engine that was started again begins anew',
    [
      [1, 100, 140, false],
      [1, 101, 140, true],
      [1, 102, 140, false],
      [2, 50, 80, false],
      [2, 51, 80, true],
    ],
  ],
])('%s', (_, looks) => {
  const memory = new IdleMemory()
  const decided = looks.map(([pid, ticks, size]) => memory.isToCollect(pid, { ticks, residentBytes: size * MB }))
  expect(decided).toEqual(looks.map(([, , , collects]) => collects))
})

test('where the system does not tell, it does not collect', () => {
  const memory = new IdleMemory()
  memory.isToCollect(1, { ticks: 1, residentBytes: 80 * MB })
  expect(memory.isToCollect(1, undefined)).toBe(false)
  expect(processUsage(0)).toBeUndefined()
})

test.runIf(process.platform === 'linux')('the usage of a process', () => {
  const { residentBytes = 0, ticks = -1 } = processUsage(process.pid) ?? {}
  expect(residentBytes / process.memoryUsage.rss()).toBeCloseTo(1, 0)
  expect(ticks).toBeGreaterThan(0)
})
