// Users other than the administrator use kubectl: with a short-lived certificate, and with a login at a provider.
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'
import { startProvider } from '../cli/provider.ts'
import { findKubectlOrNot } from '../clients/kubectl/kubectl.ts'
import { skipWithoutKubectl } from './session.ts'

const run = promisify(execFile)
const directory = mkdtempSync(join(tmpdir(), 'kedge-people-'))
const data = join(directory, 'data')
const kubectl = (): string => findKubectlOrNot().kubectl!.path

let provider: Awaited<ReturnType<typeof startProvider>>
let kedge: KedgeProcess
beforeAll(async () => {
  provider = await startProvider()
  writeFileSync(join(directory, 'ca.crt'), provider.authority)
  const flags = ['--oidc-issuer-url', provider.url, '--oidc-client-id', 'kubectl', '--oidc-username-prefix', 'oidc:']
  kedge = await startKedge(['--port', '0', '--data-dir', data, ...flags, '--oidc-ca-file', join(directory, 'ca.crt')])
})
afterAll(async () => {
  await kedge?.stop()
  provider.close()
})

const personOf = async (): Promise<{ users: { user: object }[] }> => {
  const args = ['kubeconfig', '--user', 'anna', '--group', 'dev', '--group', 'ops', '--for', '8h', '--data-dir', data]
  return JSON.parse((await run(process.execPath, [LAUNCHER, ...args])).stdout)
}
const written = (name: string, config: object): string => {
  const file = join(directory, name)
  writeFileSync(file, JSON.stringify(config))
  return file
}

test('kubectl auth whoami names the user of kedge kubeconfig --user', async (context) => {
  skipWithoutKubectl(context)
  const kubeconfig = written('anna', await personOf())
  const { stdout } = await run(kubectl(), ['--kubeconfig', kubeconfig, 'auth', 'whoami', '-o', 'json'])
  expect(JSON.parse(stdout).status.userInfo).toMatchObject({
    username: 'anna',
    groups: ['dev', 'ops', 'system:authenticated'],
  })
  await expect(run(kubectl(), ['--kubeconfig', kubeconfig, 'get', 'secrets'])).rejects.toThrow(
    /User "anna" cannot list/,
  )
})

/** Opens the printed address and follows its redirects. */
function browse(printed: string): boolean {
  const [, address] = /Log in at (https:\S+)\n/.exec(printed) ?? []
  if (address === undefined) return false
  getHttps(address, { ca: provider.authority }, ({ headers }) => {
    getHttp((headers.location ?? '').replace('localhost', '127.0.0.1'), (response) => response.resume())
  })
  return true
}

test('kedge login, as kubectl’s exec plug-in', async (context) => {
  skipWithoutKubectl(context)
  const args = [
    LAUNCHER,
    'login',
    '--no-browser',
    '--port',
    '0',
    '--issuer-url',
    provider.url,
    '--client-id',
    'kubectl',
  ]
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: [...args, '--certificate-authority', join(directory, 'ca.crt'), '--cache-dir', join(directory, 'cache')],
    interactiveMode: 'Never',
  }
  const person = await personOf()
  const kubeconfig = written('login', { ...person, users: [{ ...person.users[0], user: { exec } }] })
  const whoami = ['--kubeconfig', kubeconfig, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}']
  const child = spawn(kubectl(), whoami)
  let [out, errors, went] = ['', '', false]
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
    went ||= browse(errors)
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect({ code, out }, errors).toEqual({ code: 0, out: 'oidc:anna' })
  // The next command needs no login.
  expect((await run(kubectl(), whoami)).stdout).toBe('oidc:anna')
  expect(provider.grants).toEqual(['authorization_code'])
})
