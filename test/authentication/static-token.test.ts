import { expect, test } from 'vitest'
import { readTokenFile } from '../../src/authentication/static-token.ts'
import { authenticateToken } from '../../src/authentication/token-authenticator.ts'
import { configurationProblem } from '../../src/authorization/configuration-problem.ts'
import { memoryServer } from '../request-in-memory.ts'

test.each([
  ['t,anna,1', { name: 'anna', uid: '1', groups: ['system:authenticated'], extra: {} }],
  ['t,anna,1,"dev,ops"', { name: 'anna', uid: '1', groups: ['dev', 'ops', 'system:authenticated'], extra: {} }],
  ['t,"a ""b""",1,dev\n', { name: 'a "b"', uid: '1', groups: ['dev', 'system:authenticated'], extra: {} }],
  ['t,old,1\r\nt,new,2', { name: 'new', uid: '2', groups: ['system:authenticated'], extra: {} }],
  [',nobody,1', undefined],
])('%s', (csv, user) => {
  expect(readTokenFile(csv).get('t')).toEqual(user)
})

test('a token of the file stands for its user, others for nobody', async () => {
  const server = memoryServer({ KEDGE_TOKEN_AUTH_FILE: 'a-token,anna,1,dev' })
  const asked = server.request('/version')
  expect((await authenticateToken(asked, 'a-token')).user).toMatchObject({
    name: 'anna',
    groups: ['dev', 'system:authenticated'],
  })
  await expect(authenticateToken(asked, 'a-toke')).rejects.toThrow('invalid bearer token')
  await expect(authenticateToken(asked, 'a-token', ['vault'])).rejects.toThrow('invalid bearer token')
})

test.each([
  ['a,b', 'token file must have at least 3 columns (token, user name, user uid), found 2'],
  ['secret,b"c,1', 'the token file has a row that is not quoted as CSV is'],
])('%s: nothing is served, and the token is not shown', async (csv, why) => {
  const problem = await configurationProblem(memoryServer({ KEDGE_TOKEN_AUTH_FILE: csv }).env)
  expect(problem).toEqual({
    message: 'KEDGE_TOKEN_AUTH_FILE cannot be used',
    details: `KEDGE_TOKEN_AUTH_FILE: ${why}`,
  })
})
