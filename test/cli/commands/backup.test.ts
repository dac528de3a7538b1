import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { serverOf } from '../../../src/cli/commands/backup.ts'
import { kubeconfig } from '../../../src/cli/data-directory/kubeconfig.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** A kubeconfig as kubectl writes it: sorted YAML. Its owner added the entries in front. */
const byKubectl = `apiVersion: v1
clusters:
- cluster:
    server: https://elsewhere
  name: another
- cluster:
    certificate-authority-data: Q0E=
    server: https://127.0.0.1:6443
  name: kedge
contexts:
- context:
    cluster: kedge
    namespace: kube-system
    user: kubernetes-admin
  name: kedge
current-context: kedge
kind: Config
users:
- name: another
  user:
    client-certificate-data: QQ==
- name: kubernetes-admin
  user:
    token: secret
`
const byStart = kubeconfig({
  server: 'https://127.0.0.1:6443',
  // kubeconfig() reads only these two
  pki: { authorities: 'CA', administratorToken: 'secret' } as Parameters<typeof kubeconfig>[0]['pki'],
})

test.each([
  ['as it was written', byStart],
  ['as kubectl writes it anew', byKubectl],
])('the server is found in the kubeconfig %s', (_, text) => {
  const file = join(directory, 'kubeconfig')
  writeFileSync(file, text)
  expect(serverOf(file)).toEqual({ url: 'https://127.0.0.1:6443', token: 'secret', authority: 'CA' })
})

test('a kubeconfig without the server is refused, and the error names the file', () => {
  const file = join(directory, 'kubeconfig')
  writeFileSync(file, 'clusters: []\nusers: []\n')
  expect(() => serverOf(file)).toThrow(file)
})
