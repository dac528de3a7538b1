import { expect, test } from 'vitest'
import { LookPace } from '../../../src/controllers/work/look-pace.ts'

test('a key is looked at at once, and then so often as its controller may', () => {
  let now = 1_000
  const pace = new LookPace(() => now)
  expect(pace.delay('replica-set', 'default/web')).toBe(0)
  pace.looked('replica-set', 'default/web')
  expect(pace.delay('replica-set', 'default/web')).toBe(250)
  expect(pace.delay('replica-set', 'default/other')).toBe(0)
  now += 100
  expect(pace.delay('replica-set', 'default/web')).toBe(150)
  now += 1_000
  expect(pace.delay('replica-set', 'default/web')).toBe(0)
})

test('other controllers look whenever there is work', () => {
  const pace = new LookPace(() => 0)
  pace.looked('namespace', 'default')
  expect(pace.delay('namespace', 'default')).toBe(0)
})
