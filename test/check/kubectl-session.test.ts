import { join } from 'node:path'
import { expect, test } from 'vitest'
// the runner is JavaScript
const { Printed } = await import(join(import.meta.dirname, '../conformance/kubectl-session.mjs'))

const printed = (text: string): string[] => new Printed('ns', '/work', new URL('https://127.0.0.1:6443')).lines(text)

test.each([
  [
    '  Normal   Pulled  2y325d (x3 over 2y333d)  kubelet  image is here',
    '  Normal  Pulled  <age> (x3 over <age>)  kubelet  image is here',
  ],
  ['5s (x12 over 3m2s)   Warning  Failed  Pod/p  cannot', '<age> (x12 over <age>)  Warning  Failed  Pod/p  cannot'],
  ['  Warning  Failed  2y325d  kubelet  cannot', '  Warning  Failed  <age>  kubelet  cannot'],
  ['  Normal  Pulled  waited 3s (x3 over 4s) long', '  Normal  Pulled  waited 3s (x3 over 4s) long'],
])('ages of events do not depend on the day: %j', (line, wanted) => {
  expect(printed(line)).toEqual([wanted])
})
