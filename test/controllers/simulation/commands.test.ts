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
  [['/bin/sh', '-c', 'sleep 5; exit 1'], [], { duration: 5_000, exitCode: 1 }],
  [['sh', '-c', 'exit 1; sleep 5'], [], { duration: 0, exitCode: 1 }],
  [['sh', '-c', 'sleep 2 && sleep 3\nfalse'], [], { duration: 5_000, exitCode: 1 }],
  [['sh', '-c', 'false && sleep 3 || sleep 1'], [], { duration: 1_000, exitCode: 0 }],
  [['sh', '-c', 'true || exit 3;'], [], { duration: 0, exitCode: 0 }],
  [['sh', '-c', 'sleep infinity; exit 2'], [], { duration: Infinity, exitCode: 0 }],
  [['sleep', '5', '6'], [], undefined],
  [['exit', '3'], [], undefined],
  [['echo', 'sleep  5', '$A'], [], { duration: 0, exitCode: 0, printed: [{ after: 0, line: 'sleep  5 $A' }] }],
  [
    ['sh', '-c', `echo a; sleep 2; echo 'b  "c"' "d'" ; sleep 600; echo e; exit 1`],
    [],
    {
      duration: 602_000,
      exitCode: 1,
      printed: [
        { after: 0, line: 'a' },
        { after: 2_000, line: `b  "c" d'` },
        { after: 602_000, line: 'e' },
      ],
    },
  ],
  ...[
    'echo $HOME',
    'echo "$HOME"',
    'echo a > b',
    'echo a | cat',
    'echo a &',
    "echo 'a",
    'echo -n a',
    'A=b echo a',
    '(exit 1)',
    'false; cat x',
    'exit 0; cat x',
    'echo a ;; echo b',
    `echo ${'a'.repeat(5000)}`,
  ].map((script): [string[], string[], undefined] => [['sh', '-c', script], [], undefined]),
  [[], [], undefined],
])('%j %j', (command, args, expected) => {
  expect(outcomeOf({ command: [...command], args: [...args] })).toEqual(expected)
})
