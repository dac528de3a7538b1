/**
 * The metrics server of the recorder: the usage that Kedge works out for simulated pods, behind an APIService, so that
 * autoscalers see the same on both sides.
 */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Pod } from '../../src/api/core/v1.ts'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import { podMetrics } from '../../src/controllers/simulation/usage.ts'
import type { Cluster } from './cluster.ts'

const VERSION = 'metrics.k8s.io/v1beta1'
const resource = (name: string, kind: string, namespaced: boolean) => ({
  name,
  singularName: '',
  namespaced,
  kind,
  verbs: ['get', 'list'],
})

/** @returns what stops it */
export async function serveMetrics(cluster: Cluster): Promise<() => void> {
  const subject = { commonName: 'metrics' }
  const authority = await createAuthority(subject, new Date(), 30)
  const own = await issue(authority, { subject, usage: 'server', names: ['localhost'], days: 30 }, new Date())
  const server = createServer({ key: own.key, cert: own.certificate }, (request, response) => {
    void answerTo(cluster, request.url ?? '').then(
      (answer) => response.setHeader('content-type', 'application/json').end(JSON.stringify(answer)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  const { port } = server.address() as AddressInfo // of a server that listens on TCP
  await cluster.send('DELETE', '/api/v1/namespaces/kube-system/services/metrics', undefined, [404])
  await cluster.send('POST', '/api/v1/namespaces/kube-system/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'metrics' },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  })
  const services = '/apis/apiregistration.k8s.io/v1/apiservices'
  await cluster.send('DELETE', `${services}/v1beta1.metrics.k8s.io`, undefined, [404])
  await cluster.send('POST', services, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      service: { name: 'metrics', namespace: 'kube-system', port },
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  })
  return () => {
    server.close()
    server.closeAllConnections()
  }
}

async function answerTo(cluster: Cluster, url: string): Promise<object> {
  const { pathname, search } = new URL(url, 'https://metrics')
  const [, namespace] = /^\/apis\/metrics\.k8s\.io\/v1beta1\/namespaces\/([^/]+)\/pods$/.exec(pathname) ?? []
  if (namespace === undefined)
    return {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: VERSION,
      resources: [resource('nodes', 'NodeMetrics', false), resource('pods', 'PodMetrics', true)],
    }
  const pods = (await cluster.list(`/api/v1/namespaces/${namespace}/pods${search}`)) as unknown as Pod[]
  const items = pods.flatMap((pod) => podMetrics(pod, new Date()) ?? [])
  return { kind: 'PodMetricsList', apiVersion: VERSION, metadata: {}, items }
}
