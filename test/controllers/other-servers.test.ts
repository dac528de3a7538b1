// Controllers that ask other servers wait for them, so they have a queue apart.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { controllers, namedQueues } from '../../src/controllers/controllers.ts'
import type { Topic } from '../../src/registry/work/topic.ts'
import { importsIn } from '../check/layers.ts'

const root = fileURLToPath(new URL('../..', import.meta.url).href)

/** The files of controllers that call other servers, and the topics whose work comes to them. */
const asking: Readonly<Record<string, readonly Topic[]>> = {
  'src/controllers/api-service-availability.ts': ['api-service-availability'],
  'src/controllers/workloads/horizontal-pod-autoscaler/metrics.ts': ['horizontal-pod-autoscaler'],
}

test('these are all', () => {
  const found = globSync('src/controllers/**/*.ts', { cwd: root }).filter((file) =>
    importsIn(file, readFileSync(root + file, 'utf8')).some(
      ({ to, isType }) => !isType && to.startsWith('src/outgoing/'),
    ),
  )
  expect(found.toSorted()).toEqual(Object.keys(asking).toSorted())
})

test.each(Object.values(asking).flat())('%s has a queue apart', (topic) => {
  expect(controllers[topic].queue).toBe('other-servers')
})

test.each([
  [Infinity, 'workloads', 'other-servers'],
  [1_000, 'workloads', 'other-servers'],
  [100, undefined, undefined],
])('with %s subrequests in an invocation', (subrequests, workloads, others) => {
  const queues = namedQueues(subrequests)
  expect([queues.get('deployment'), queues.get('api-service-availability')]).toEqual([workloads, others])
  expect(queues.get('namespace')).toBe('namespaces')
})
