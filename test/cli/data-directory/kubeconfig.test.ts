import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { writeKubeconfig } from '../../../src/cli/data-directory/kubeconfig.ts'
import type { Pki } from '../../../src/cli/data-directory/pki.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** The file after a start with this port and authority on one with this text. */
function started(text: string | undefined, port: number, authorities = 'CA'): { text: string; config: unknown } {
  const file = join(mkdtempSync(join(tmpdir(), 'kedge-kubeconfig-')), 'kubeconfig')
  if (text !== undefined) writeFileSync(file, text)
  // The kubeconfig needs no more of it.
  const pki = { authorities, administratorToken: 'secret' } as Pki
  writeKubeconfig(file, { server: `https://127.0.0.1:${port}`, pki })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const written = readFileSync(file, 'utf8')
  return { text: written, config: load(written) }
}

const own = (port: number, authorities = 'CA') => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [
    {
      name: 'kedge',
      cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': base64(authorities) },
    },
  ],
  users: [{ name: 'kubernetes-admin', user: { token: 'secret' } }],
  contexts: [{ name: 'kedge', context: { cluster: 'kedge', user: 'kubernetes-admin' } }],
  'current-context': 'kedge',
})

test.each([
  ['no file', undefined],
  ['half a file', '{"apiVersion": "v1", "clusters": ['],
  ['a file of something else', 'clusters: nothing'],
  ['an empty file', ''],
])('%s becomes a kubeconfig', (_, text) => {
  expect(started(text, 6443).config).toEqual(own(6443))
})

/** As kubectl writes it, after "config set-context" and the like. */
const edited = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${base64('CA')}
    server: https://127.0.0.1:6443
  name: kedge
- cluster:
    server: https://example.com
  name: other
contexts:
- context:
    cluster: kedge
    namespace: demo
    user: kubernetes-admin
  name: kedge
- context:
    cluster: other
    user: me
  name: other
current-context: other
kind: Config
users:
- name: kubernetes-admin
  user:
    token: secret
- name: me
  user:
    token: mine
`

test('a file that leads here is left as it is', () => {
  expect(started(edited, 6443).text).toBe(edited)
})

test.each([
  ['another port', 16443, 'CA'],
  ['another authority', 6443, 'CA CA2'],
])('a start with %s keeps the namespace and what its owner added', (_, port, authorities) => {
  const { clusters, users, ...rest } = own(port, authorities)
  expect(started(edited, port, authorities).config).toEqual({
    ...rest,
    clusters: [...clusters, { name: 'other', cluster: { server: 'https://example.com' } }],
    users: [...users, { name: 'me', user: { token: 'mine' } }],
    contexts: [
      { name: 'kedge', context: { cluster: 'kedge', namespace: 'demo', user: 'kubernetes-admin' } },
      { name: 'other', context: { cluster: 'other', user: 'me' } },
    ],
    'current-context': 'other',
  })
})
