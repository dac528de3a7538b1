/** A write of `scale` is a write of the object behind it, with the rules and warnings of that object. */
import { expect, test } from 'vitest'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'

const labels = { app: 'web' }
const ports = [{ containerPort: 80, hostIP: '1.2.3.4' }]
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i', ports }] } }
const selector = { matchLabels: labels }

const HOST_IP =
  'spec.template.spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}'
const HISTORY =
  'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'

function cluster() {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  return async (method: string, path: string, body: object, type = 'application/json') => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type }
    const request = server.request(path, { method, headers, body: JSON.stringify(body) })
    const { status } = await answer(request)
    return { status, warnings: request.warnings }
  }
}

test.each([
  ['apps/v1', 'Deployment', { selector, template }, [HOST_IP], []],
  ['apps/v1', 'ReplicaSet', { selector, template }, [HOST_IP], []],
  ['apps/v1', 'StatefulSet', { selector, template, revisionHistoryLimit: -1 }, [HOST_IP, HISTORY], [HISTORY]],
  ['v1', 'ReplicationController', { selector: labels, template }, [HOST_IP], []],
])(
  '%s %s: warnings of a new number of replicas, and of the same again',
  async (apiVersion, kind, spec, first, again) => {
    const send = cluster()
    const collection = `/${apiVersion === 'v1' ? 'api' : 'apis'}/${apiVersion}/namespaces/default/${kind.toLowerCase()}s`
    expect(await send('POST', collection, { apiVersion, kind, metadata: { name: 'w' }, spec })).toMatchObject({
      status: 201,
    })
    const scaled = () =>
      send('PATCH', `${collection}/w/scale`, { spec: { replicas: 3 } }, 'application/merge-patch+json')
    expect(await scaled()).toEqual({ status: 200, warnings: first })
    expect(await scaled()).toEqual({ status: 200, warnings: again })
  },
)
