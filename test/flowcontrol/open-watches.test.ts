// It needs modules of its own: the places are those of the isolate, and other files leave watches open.
import { expect, test } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import { takeWatchPlace } from '../../src/flowcontrol/open-watches.ts'
import { countedAs } from '../../src/request/user-info.ts'
import { authenticated } from '../../src/request/user-info.ts'
import { memoryServer } from '../request-in-memory.ts'

const WATCH = '/api/v1/namespaces/default/configmaps?watch=1'

/** A server with four places, and how many each user has. */
function small() {
  const server = memoryServer({ KEDGE_MAX_WATCHES: '4' })
  const ended: string[] = []
  const watch = (name: string, target = WATCH, headers: Record<string, string> = {}) => {
    const asked = server.request(target, { headers })
    const place = takeWatchPlace({ ...asked, user: authenticated({ name, groups: [] }) })
    place.onEnd = () => ended.push(name)
    return place
  }
  return { watch, ended }
}

test('a user who has all the watches there may be is refused one more, and told to come back', () => {
  const { watch, ended } = small()
  const open = [1, 2, 3, 4].map(() => watch('greedy'))
  let refusal: unknown
  try {
    watch('greedy')
  } catch (error) {
    refusal = error
  }
  expect(refusal).toBeInstanceOf(StatusError)
  expect((refusal as StatusError).status).toMatchObject({
    code: 429,
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 1 },
  })
  const other = watch('other')
  expect(ended).toEqual(['greedy'])
  for (const place of [...open, other]) place.leave()
})

test('a watch with a long selector takes several places', () => {
  const { watch } = small()
  const long = watch('reader', `${WATCH}&labelSelector=${'x'.repeat(10_000)}`)
  expect(() => watch('reader')).toThrow('Too many watches, please try again later.')
  long.leave()
  watch('reader').leave()
})

test('so does one with long headers, which are kept as long', () => {
  const { watch } = small()
  const open = [1, 2, 3].map(() => watch('reader', WATCH, { Authorization: `Bearer ${'x'.repeat(8_000)}` }))
  expect(() => watch('reader', WATCH, { 'X-Long': 'x'.repeat(12_000) })).toThrow('Too many watches')
  for (const place of open) place.leave()
  const long = watch('reader', WATCH, { 'X-Long': 'x'.repeat(8_000), 'X-Longer': 'x'.repeat(9_000) })
  expect(() => watch('reader')).toThrow('Too many watches')
  long.leave()
})

test.each([
  ['alice', 'alice'],
  ['system:node:a', 'system:node:a'],
  ['system:serviceaccount:kube-system:job-controller', 'system:serviceaccount:kube-system:job-controller'],
  ['system:serviceaccount:team:one', 'system:serviceaccount:team:'],
  ['system:serviceaccount:team:two', 'system:serviceaccount:team:'],
])('the watches of %s are those of %s', (name, watcher) => {
  expect(countedAs({ name })).toBe(watcher)
})
