import { expect, test } from 'vitest'
import { outcomeOf } from '../../../src/controllers/simulation/commands.ts'

test.each([
  ['pause', true],
  ['registry.k8s.io/pause:3.10', true],
  ['pause@sha256:0', true],
  ['example.com/pause/menu', false],
  ['unpause:1', false],
])('the image %s runs for ever: %s', (image, isForEver) => {
  expect(outcomeOf({ image })).toEqual(isForEver ? { duration: Infinity, exitCode: 0 } : undefined)
  expect(outcomeOf({ image, command: ['false'] })).toEqual({ duration: 0, exitCode: 1 })
})

test.each<[readonly string[], readonly string[], ReturnType<typeof outcomeOf>]>([
  [['sleep', '30'], [], { duration: 30_000, exitCode: 0 }],
  [['sleep'], ['1.5'], { duration: 1_500, exitCode: 0 }],
  [['sleep', 'infinity'], [], { duration: Infinity, exitCode: 0 }],
  [['/bin/sh', '-c', 'sleep 5'], [], { duration: 5_000, exitCode: 0 }],
  [['sh', '-c'], [' exit 3 '], { duration: 0, exitCode: 3 }],
  [['bash', '-c', 'exit 300'], [], { duration: 0, exitCode: 44 }],
  [['/bin/true'], [], { duration: 0, exitCode: 0 }],
  [['false'], [], { duration: 0, exitCode: 1 }],
  [['false', 'x', 'y'], [], undefined],
  [['/bin/sh', '-c', 'sleep 5; exit 1'], [], undefined],
  [['sleep', '5', '6'], [], undefined],
  [['echo', 'sleep 5'], [], undefined],
  [[], [], undefined],
])('%j %j', (command, args, expected) => {
  expect(outcomeOf({ command: [...command], args: [...args] })).toEqual(expected)
})
