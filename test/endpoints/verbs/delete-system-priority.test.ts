/** A DELETE never removes the priority classes of the system, but that of their collection does, as in kube-apiserver. */
import { expect, test } from 'vitest'
import { pluginServer } from '../../admission/plugin-server.ts'

const PATH = '/apis/scheduling.k8s.io/v1/priorityclasses'
const NAME = 'system-node-critical'
const KEPT = `priorityclasses.scheduling.k8s.io "${NAME}" is forbidden: this is a system priority class and cannot be deleted`

test('a priority class of the system', async () => {
  const server = pluginServer()
  const remove = (body: object) => server.send('DELETE', `${PATH}/${NAME}`, body)
  expect((await remove({})).body.message).toBe(KEPT) // whether it is there or not
  await server.send('POST', PATH, { metadata: { name: NAME }, value: 2_000_001_000 })
  expect((await remove({ preconditions: { uid: 'other' } })).body.message).toBe(KEPT)
  expect((await remove({ dryRun: ['All'] })).code).toBe(403)
  await server.send('POST', PATH, { metadata: { name: 'mine' }, value: 1 })
  expect((await server.send('DELETE', `${PATH}/mine`, {})).code).toBe(200)
  expect((await server.send('GET', `${PATH}/${NAME}`)).code).toBe(200)
  await server.send('DELETE', PATH, {})
  expect((await server.send('GET', `${PATH}/${NAME}`)).code).toBe(404)
})
