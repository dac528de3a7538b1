// An account or object that is deleted and created again under the same name has another identity.
import { bearer } from './forge.ts'
import { row } from './row.ts'
import type { Row } from './row.ts'
import type { World } from './world.ts'

const REFUSED = '401 Unauthorized'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ACCOUNTS = '/api/v1/namespaces/a/serviceaccounts'
const REVIEW = 'POST /apis/authentication.k8s.io/v1/tokenreviews'

let names = 0
const fresh = (): string => `recreated-${++names}`
const remove = (world: World, path: string) => world.make(path, { gracePeriodSeconds: 0 }, 'DELETE')
const account = (world: World, name: string) => world.make(ACCOUNTS, { metadata: { name } })
const recreate = async (world: World, name: string): Promise<void> => {
  await remove(world, `${ACCOUNTS}/${name}`)
  await account(world, name)
}
const bind = (world: World, binding: string, name: string) =>
  world.make(`${RBAC}/namespaces/a/rolebindings`, {
    metadata: { name: binding },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'owner' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'a', name }],
  })

/** A request with a token that the case makes. */
const asked = (
  rule: string,
  request: string,
  answer: string,
  make: (world: World, name: string) => Promise<string>,
): Row =>
  row(rule, 'anonymous', request, answer, async (world) => {
    const name = fresh()
    await account(world, name)
    return bearer(await make(world, name))
  })

/** A TokenReview of a token that the case makes. */
const reviewed = (rule: string, isKnown: boolean, make: (world: World, name: string) => Promise<string>): Row =>
  row(
    rule,
    'admin',
    REVIEW,
    '201',
    async (world) => {
      const name = fresh()
      await account(world, name)
      const token = await make(world, name)
      // kube-apiserver sees a deletion when its informer does
      if (!world.isKedge) await new Promise((resolve) => setTimeout(resolve, 500))
      return { body: { spec: { token } } }
    },
    ({ text }) => {
      const { status } = JSON.parse(text) as { status: { authenticated?: boolean; user?: { username?: string } } }
      if ((status.authenticated ?? false) !== isKnown) throw new Error(text)
      if (!isKnown && status.user?.username) throw new Error(`a token that is refused names somebody: ${text}`)
    },
  )

const SECRETS = 'GET /api/v1/namespaces/a/secrets/one'

export const recreated: readonly Row[] = [
  asked('an account and its binding', SECRETS, '200', async (world, name) => {
    await bind(world, name, name)
    return world.token('a', name)
  }),
  asked('the account made again, the old token', SECRETS, REFUSED, async (world, name) => {
    await bind(world, name, name)
    const token = await world.token('a', name)
    await recreate(world, name)
    return token
  }),
  // bindings name accounts without a UID
  asked('the account made again, a new token, the old binding', SECRETS, '200', async (world, name) => {
    await bind(world, name, name)
    await recreate(world, name)
    return world.token('a', name)
  }),
  asked('made again twice, the token between', SECRETS, REFUSED, async (world, name) => {
    await bind(world, name, name)
    await recreate(world, name)
    const token = await world.token('a', name)
    await recreate(world, name)
    return token
  }),
  asked('the binding made again for somebody else', SECRETS, '403 Forbidden', async (world, name) => {
    const token = await world.token('a', name)
    await bind(world, name, name)
    await remove(world, `${RBAC}/namespaces/a/rolebindings/${name}`)
    await bind(world, name, 'ghost')
    return token
  }),
  asked('the same name in another namespace', SECRETS, '403 Forbidden', async (world, name) => {
    await bind(world, name, name)
    await world.make('/api/v1/namespaces/b/serviceaccounts', { metadata: { name } })
    return world.token('b', name)
  }),
  asked('a Secret of the account, moved to one made again', SECRETS, REFUSED, async (world, name) => {
    await bind(world, name, name)
    await world.make('/api/v1/namespaces/a/secrets', { metadata: { name } })
    const token = await world.token('a', name, { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name } })
    await remove(world, `/api/v1/namespaces/a/secrets/${name}`)
    await recreate(world, name)
    await world.make('/api/v1/namespaces/a/secrets', { metadata: { name } })
    return token
  }),
  row(
    'a token for an object of another uid',
    'admin',
    'POST /api/v1/namespaces/a/serviceaccounts/nobody/token',
    '409 Conflict',
    {
      body: { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'one', uid: 'gone' } } },
    },
  ),
  row(
    'a token for an object that is not there',
    'admin',
    'POST /api/v1/namespaces/a/serviceaccounts/nobody/token',
    '404 NotFound',
    {
      body: { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'ghost' } } },
    },
  ),
  row(
    'a token for a Secret of another namespace',
    'admin',
    'POST /api/v1/namespaces/a/serviceaccounts/nobody/token',
    '404 NotFound',
    async (world) => {
      await world.make('/api/v1/namespaces/b/secrets', { metadata: { name: 'only-in-b' } })
      return { body: { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'only-in-b' } } } }
    },
  ),
  row(
    'a token for a kind that binds nothing',
    'admin',
    'POST /api/v1/namespaces/a/serviceaccounts/nobody/token',
    '400 BadRequest',
    {
      body: { spec: { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'one' } } },
    },
  ),
  row(
    'a token of an account that is not there',
    'admin',
    'POST /api/v1/namespaces/a/serviceaccounts/ghost/token',
    '404 NotFound',
    { body: {} },
  ),
  reviewed('a review of a token that lives', true, (world, name) => world.token('a', name)),
  reviewed('a review of one whose account went', false, async (world, name) => {
    const token = await world.token('a', name)
    await remove(world, `${ACCOUNTS}/${name}`)
    return token
  }),
  reviewed('a review of one whose account was made again', false, async (world, name) => {
    const token = await world.token('a', name)
    await recreate(world, name)
    return token
  }),
  // deletions with an outdated precondition
  row('deleting what was made again', 'admin', `DELETE ${ACCOUNTS}/again`, '409 Conflict', async (world) => {
    await account(world, 'again')
    const { text } = await world.send('admin', 'GET', `${ACCOUNTS}/again`)
    const { uid } = (JSON.parse(text) as { metadata: { uid: string } }).metadata
    await recreate(world, 'again')
    return { body: { preconditions: { uid } } }
  }),
  row('changing what was made again', 'admin', `PUT ${ACCOUNTS}/changed-again`, '409 Conflict', async (world) => {
    await account(world, 'changed-again')
    const { text } = await world.send('admin', 'GET', `${ACCOUNTS}/changed-again`)
    const { uid } = (JSON.parse(text) as { metadata: { uid: string } }).metadata
    await recreate(world, 'changed-again')
    return { body: { metadata: { name: 'changed-again', uid } } }
  }),
]
