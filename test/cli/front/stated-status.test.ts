/** A client gets a status above 599, which a Worker's Response cannot have. */
import { expect, test } from 'vitest'
import { withStatedStatus } from '../../../src/cli/front/stated-status.ts'

const REST = 'Content-Length: 2\r\n\r\n{}'
const own = (line: string) => `HTTP/1.1 ${line}\r\n${REST}`

test.each([
  ['600', own('500 600'), own('600 status code 600')],
  ['999', own('500 999'), own('999 status code 999')],
  ['alone, with the rest to come', 'HTTP/1.1 500 601\r\n', 'HTTP/1.1 601 status code 601\r\n'],
  ['a reason', own('500 Internal Server Error'), undefined],
  ['a status that Workers can give', own('500 599'), undefined],
  ['more than three digits', own('500 6000'), undefined],
  ['another status', own('200 600'), undefined],
  ['a line that is not whole', 'HTTP/1.1 500 60', undefined],
  ['in a header', own('500 Internal Server Error').replace('Content', 'X: HTTP/1.1 500 600\r\nContent'), undefined],
  ['nothing', '', undefined],
])('%s', (_, said, passed) => {
  expect(withStatedStatus(Buffer.from(said)).toString()).toBe(passed ?? said)
})
