/** What kube-apiserver asks a kubelet for the logs of a container, by what the client asked. */
import { expect, test } from 'vitest'
import { logParameters } from '../../../src/endpoints/pods/connect.ts'
import { parseQuery } from '../../../src/request/query-parameters.ts'

test.each<[asked: string, passedOn: Record<string, string>]>([
  ['', {}],
  ['?container=c&pretty=1', {}],
  ['?previous=&follow=false&timestamps=0', { previous: 'true' }],
  ['?tailLines=%2B007&limitBytes=10', { limitBytes: '10', tailLines: '7' }],
  ['?sinceSeconds=9007199254740993', { sinceSeconds: '9007199254740993' }],
  ['?sinceTime=2026-05-01T12:00:00Z', { sinceTime: '2026-05-01T12:00:00Z' }],
  ['?sinceTime=2026-05-01T12:00:00.75%2B02:00', { sinceTime: '2026-05-01T10:00:00Z' }],
  ['?sinceTime=', { sinceTime: '0001-01-01T00:00:00Z' }],
  ['?sinceTime=null', { sinceTime: '0001-01-01T00:00:00Z' }],
])('%s', (asked, passedOn) => {
  expect(logParameters(parseQuery(asked))).toEqual(Object.entries(passedOn))
})

test('a stream is passed on where one may be chosen', () => {
  expect(logParameters(parseQuery('?timestamps=1&tailLines=1'), 'All')).toEqual([
    ['stream', 'All'],
    ['tailLines', '1'],
    ['timestamps', 'true'],
  ])
})
