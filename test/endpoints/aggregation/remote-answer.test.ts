import { expect, test } from 'vitest'
import { remoteAnswer } from '../../../src/endpoints/aggregation/remote-answer.ts'

const answering = (status: number) => remoteAnswer({ status, headers: [['Kedge-Status', '600']], body: null }, false)

test.each([100, 199, 600, 999])('a backend has no status %i', async (status) => {
  const response = answering(status)
  expect(response.status).toBe(503)
  expect(await response.text()).toContain(`malformed HTTP status code ${status}`)
})

test('a backend lets no other origin read answers of this server', () => {
  const headers = ['Origin', 'Credentials', 'Headers', 'Methods'].map(
    (of) => [`Access-Control-Allow-${of}`, 'x'] as const,
  )
  const response = remoteAnswer({ status: 200, headers: [...headers, ['X-Other', 'stays']], body: null }, false)
  expect([...response.headers]).toEqual([['x-other', 'stays']])
})

// The front of a local server reads the status from the reason phrase (cli/front/stated-status.ts).
test.each([200, 500])('a backend gives an answer of %i no reason', (status) => {
  expect(answering(status)).toMatchObject({ status, statusText: '' })
})
