import { expect, test } from 'vitest'
import { remoteAnswer } from '../../../src/endpoints/aggregation/remote-answer.ts'

const answering = (status: number) => remoteAnswer({ status, headers: [['Kedge-Status', '600']], body: null }, false)

test.each([100, 199, 600, 999])('a backend has no status %i', async (status) => {
  const response = answering(status)
  expect(response.status).toBe(503)
  expect(await response.text()).toContain(`malformed HTTP status code ${status}`)
})

// The front of a local server reads the status from the reason phrase (cli/stated-status.ts).
test.each([200, 500])('a backend gives an answer of %i no reason', (status) => {
  expect(answering(status)).toMatchObject({ status, statusText: '' })
})
