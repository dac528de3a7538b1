import { describe, expect, test } from 'vitest'
import { controllers } from '../../src/controllers/controllers.ts'
import type { Topic } from '../../src/registry/work/topic.ts'
import { workloadTopics } from '../../src/registry/work/workload-controllers.ts'

describe('work that is refused again and again', () => {
  // a quota may be raised, or a webhook repaired, after any time
  test.each<Topic>([
    ...(Object.keys(workloadTopics) as Topic[]), // its keys are topics
    'volume-protection',
    'root-ca-publisher',
    'service-account',
    'service-account-secret',
    'namespace',
    'owned',
    'waiting',
    'resource-quota',
  ])('is never given up: %s', (topic) => {
    expect(controllers[topic].neverGivesUp).toBe(true)
  })
})
