// @kubernetes/client-node, the official client for JavaScript.
import {
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  PatchStrategy,
  Watch,
  setHeaderOptions,
} from '@kubernetes/client-node'
import type { V1ConfigMap } from '@kubernetes/client-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'

let server: KedgeProcess
const config = new KubeConfig()
beforeAll(async () => {
  server = await startKedge()
  config.loadFromFile(server.kubeconfig)
})
afterAll(async () => {
  await server.stop()
})

const namespace = 'default'
const configMap = (name: string, data: Record<string, string>): V1ConfigMap => ({ metadata: { name }, data })

test('creates, reads, lists in pages, patches, deletes', async () => {
  const api = config.makeApiClient(CoreV1Api)
  for (const name of ['a', 'b', 'c']) {
    const made = await api.createNamespacedConfigMap({ namespace, body: configMap(`node-${name}`, { name }) })
    expect(made.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/)
  }
  const page = await api.listNamespacedConfigMap({
    namespace,
    limit: 2,
    fieldSelector: 'metadata.name!=kube-root-ca.crt',
  })
  expect(page.items.map((item) => item.metadata?.name)).toEqual(['node-a', 'node-b'])
  const rest = await api.listNamespacedConfigMap({
    namespace,
    limit: 2,
    fieldSelector: 'metadata.name!=kube-root-ca.crt',
    _continue: page.metadata?._continue,
  })
  expect(rest.items.map((item) => item.metadata?.name)).toEqual(['node-c'])
  const patched = await api.patchNamespacedConfigMap(
    { namespace, name: 'node-a', body: { data: { more: '1' } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  )
  expect(patched.data).toEqual({ name: 'a', more: '1' })
  await api.deleteNamespacedConfigMap({ namespace, name: 'node-b' })
  await expect(api.readNamespacedConfigMap({ namespace, name: 'node-b' })).rejects.toMatchObject({ code: 404 })
})

test('applies on the server’s side', async () => {
  const objects = KubernetesObjectApi.makeApiClient(config)
  const spec = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', namespace }, data: { a: '1' } }
  const apply = (): Promise<V1ConfigMap> =>
    objects.patch<V1ConfigMap>(spec, undefined, undefined, 'client', true, PatchStrategy.ServerSideApply)
  expect((await apply()).data).toEqual({ a: '1' })
  const again = await apply()
  expect(again.metadata?.managedFields).toMatchObject([{ manager: 'client', operation: 'Apply' }])
})

test('watches', async () => {
  const api = config.makeApiClient(CoreV1Api)
  const { metadata } = await api.listNamespacedConfigMap({ namespace })
  const events: string[] = []
  const abort = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { resourceVersion: metadata?.resourceVersion },
    (type: string, object: V1ConfigMap) => events.push(`${type} ${object.metadata?.name}`),
    () => {},
  )
  await api.createNamespacedConfigMap({ namespace, body: configMap('watched', {}) })
  await api.deleteNamespacedConfigMap({ namespace, name: 'watched' })
  await expect.poll(() => events).toEqual(['ADDED watched', 'DELETED watched'])
  abort.abort()
})
