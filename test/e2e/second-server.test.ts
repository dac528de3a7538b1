// A second server of this kind behind an APIService of the first: custom resources of the second, as kubectl sees them.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { openPki } from '../../src/cli/data-directory/pki.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import { Session, skipWithoutKubectl } from './session.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-second-'))
const at = (server: string) => join(directory, server)
let servers: KedgeProcess[] = []
let first: ApiClient
let kubectl: Session

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: { size: { type: 'integer', maximum: 9, description: 'How large it is.' } },
              },
              status: { type: 'object', properties: { phase: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
}

const widget = (name: string, size: number): string =>
  JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec: { size } })

beforeAll(async () => {
  // the second server believes the front proxies of the first
  await openPki(join(at('first'), 'pki'), [], new Date())
  mkdirSync(join(at('second'), 'pki'), { recursive: true, mode: 0o700 })
  for (const file of ['front-proxy-ca.crt', 'front-proxy-ca.key'])
    copyFileSync(join(at('first'), 'pki', file), join(at('second'), 'pki', file))
  const flags = (server: string) => ['--port', '0', '--data-dir', at(server)]
  const second = await startKedge([...flags('second'), '--san', 'second.default.svc'])
  servers = [second]
  servers.push(await startKedge([...flags('first'), '--services', `default/second:443=${second.url}`]))
  const own = new ApiClient(second.kubeconfig)
  first = new ApiClient(servers[1]!.kubeconfig)
  kubectl = new Session(servers[1]!.kubeconfig)
  const { authority } = await openPki(join(at('second'), 'pki'), [], new Date())
  const defined = await own.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  expect(defined.status).toBe(201)
  await eventually(async () => expect((await own.send('GET', '/apis/example.com/v1/widgets')).status).toBe(200))
  own.close()
  await first.send('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.example.com' },
    spec: {
      group: 'example.com',
      version: 'v1',
      service: { name: 'second', namespace: 'default' },
      groupPriorityMinimum: 100,
      versionPriority: 100,
      caBundle: Buffer.from(authority.certificate).toString('base64'),
    },
  })
  const ready = async () => expect((await first.send('GET', '/apis/example.com/v1/widgets')).status).toBe(200)
  await eventually(ready)
})

afterAll(async () => {
  kubectl?.close()
  first?.close()
  await Promise.all(servers.map((server) => server.stop()))
  rmSync(directory, { recursive: true, force: true })
})
beforeEach(skipWithoutKubectl)

describe('through the first server, kubectl', () => {
  test('lists the resource among the others, and tells of its fields', async () => {
    // a request waits a second at most for another server's documents
    await eventually(async () => {
      expect(await kubectl.run('api-resources --api-group example.com')).toMatch(
        /^widgets +wd +example\.com\/v1 +true +Widget$/m,
      )
      expect(await kubectl.run('explain widget.spec.size')).toContain('How large it is.')
      const v2 = await kubectl.run('get --raw /openapi/v2')
      const parts = ['"/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"', '"com.example.v1.Widget"']
      expect(parts.filter((part) => !v2.includes(part))).toEqual([])
    })
  })

  test('creates, reads, patches, watches and deletes', async () => {
    expect(await kubectl.run('create -f -', widget('a', 3))).toBe('widget.example.com/a created\n')
    expect(await kubectl.run('apply --server-side --force-conflicts -f -', widget('a', 4))).toContain(
      'serverside-applied',
    )
    expect(await kubectl.run('get wd')).toMatch(/^NAME +SIZE\na +4\n$/)
    expect(await kubectl.run('patch widget a --type merge -p {"spec":{"size":5}}')).toBe(
      'widget.example.com/a patched\n',
    )
    expect(await kubectl.run('wait widget/a --for jsonpath={.spec.size}=5 --timeout 180s')).toContain('condition met')
    expect(await kubectl.run('delete widget a')).toContain('deleted')
  })

  test('is refused in the second server’s words', async () => {
    const { code, stderr } = await kubectl.try(['create', '--validate=false', '-f', '-'], widget('b', 10))
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9',
      ),
    })
  })

  test('is a user there who has no more rights than here', async () => {
    const { stderr } = await kubectl.try(['get', 'widgets', '--as', 'jane'])
    // the first server asks its own rules before it passes anything on
    expect(stderr).toContain('User "jane" cannot list resource "widgets" in API group "example.com"')
  })
})
