import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connectionOfKubeconfig } from '../../../src/cli/flags/webhook-kubeconfig.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-kubeconfig-'))
writeFileSync(join(directory, 'token'), 'from-a-file\n')
writeFileSync(join(directory, 'ca.crt'), 'CA')
const file = join(directory, 'kubeconfig')
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const config = (cluster: object, user: object | null = {}, more: object = {}) =>
  JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://a.example/', ...cluster } }],
    users: [{ name: 'u', user }],
    ...more,
  })

test.each<[string, string, object]>([
  ['a server', config({}), { url: 'https://a.example/' }],
  ['a server and nobody', config({}, null), { url: 'https://a.example/' }],
  [
    'all within',
    config(
      { 'certificate-authority-data': base64('CA'), 'tls-server-name': 'b.example' },
      { token: 't', 'client-certificate-data': base64('C'), 'client-key-data': base64('K') },
    ),
    {
      url: 'https://a.example/',
      certificateAuthority: 'CA',
      tlsServerName: 'b.example',
      token: 't',
      clientCertificate: 'C',
      clientKey: 'K',
    },
  ],
  [
    'files beside it',
    config({ 'certificate-authority': 'ca.crt' }, { tokenFile: 'token' }),
    { url: 'https://a.example/', certificateAuthority: 'CA', token: 'from-a-file' },
  ],
  [
    'a name and a password',
    config({}, { username: 'u', password: 'p' }),
    { url: 'https://a.example/', username: 'u', password: 'p' },
  ],
])('%s', (_, text, connection) => {
  expect(connectionOfKubeconfig(text, file)).toEqual(connection)
})

test.each([
  ['a certificate that is not checked', config({ 'insecure-skip-tls-verify': true }), 'insecure-skip-tls-verify'],
  ['a proxy', config({ 'proxy-url': 'http://p' }), 'proxy-url'],
  ['a plug-in', config({}, { exec: {} }), 'exec'],
  ['another context', config({}, {}, { 'current-context': 'd' }), 'the current context names no cluster'],
])('%s is refused', (_, text, why) => {
  expect(() => connectionOfKubeconfig(text, file)).toThrow(why)
})
