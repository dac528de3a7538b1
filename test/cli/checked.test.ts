import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverOf } from '../../src/cli/commands/backup.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-checked-'))

test('a malformed kubeconfig is refused with the path of the wrong field, without its token', () => {
  const file = join(directory, 'kubeconfig')
  const cluster = { server: 'https://127.0.0.1:1', 'certificate-authority-data': 'YQ==' }
  const write = (config: object) => writeFileSync(file, JSON.stringify(config))
  const named = { name: 'kedge', cluster }
  const user = { name: 'kubernetes-admin', user: { token: 't', 'client-key-data': 'more' } }
  write({ clusters: [named], users: [user, { name: 'another', user: {} }] })
  expect(serverOf(file)).toEqual({ url: 'https://127.0.0.1:1', token: 't', authority: 'a' })
  write({ clusters: [{ ...named, cluster: { server: 1 } }], users: [user, {}] })
  expect(() => serverOf(file)).toThrow(
    `${file}: clusters.0.cluster.server: Invalid input; users.1.name: Invalid input; users.1.user: Invalid input`,
  )
  write({ clusters: [named], users: [{ ...user, user: { token: ['hunter2'] } }] })
  expect(() => serverOf(file)).toThrow(`${file}: token: Invalid input`)
})
