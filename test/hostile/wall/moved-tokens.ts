// A continue token gives no rights: its bearer sees only what he may list.
import { row } from './row.ts'
import type { Row } from './row.ts'

const FORBIDDEN = '403 Forbidden'
import type { World } from './world.ts'

const A = '/api/v1/namespaces/a'
const B = '/api/v1/namespaces/b'

/** The continue token that the administrator gets with the first page of a list. */
async function tokenOf(world: World, path: string): Promise<string> {
  const { text } = await world.send('admin', 'GET', `${path}?limit=1`)
  const { metadata } = JSON.parse(text) as { metadata: { continue?: string } } // a list of the API
  if (!metadata.continue) throw new Error(`${path} has one page: ${text.slice(0, 200)}`)
  return encodeURIComponent(metadata.continue)
}

const moved = (rule: string, who: Row['who'], from: string, to: string, answer: string, check?: Row['check']): Row =>
  row(
    rule,
    who,
    `GET ${to}?limit=500`,
    answer,
    async (world) => ({ query: `&continue=${await tokenOf(world, from)}` }),
    check,
  )

/** The answer shows no object of the namespace b. */
const nothingOfB: Row['check'] = ({ text }) => {
  if (text.includes('"namespace":"b"')) throw new Error(text.slice(0, 400))
}

export const movedTokens: readonly Row[] = [
  moved('a token where it was made', 'owner', `${A}/secrets`, `${A}/secrets`, '200', nothingOfB),
  moved(
    'somebody else’s token of the same list',
    'owner',
    `${A}/serviceaccounts`,
    `${A}/serviceaccounts`,
    '200',
    nothingOfB,
  ),
  moved('a token of another resource', 'owner', `${A}/serviceaccounts`, `${A}/secrets`, '200', nothingOfB),
  moved('a token of all namespaces in one', 'owner', '/api/v1/secrets', `${A}/secrets`, '200', nothingOfB),
  moved('a token of all namespaces where one may not list', 'owner', '/api/v1/secrets', '/api/v1/secrets', FORBIDDEN),
  moved('a token of one namespace in all', 'owner', `${A}/serviceaccounts`, '/api/v1/serviceaccounts', FORBIDDEN),
  moved(
    'a token of another namespace in one’s own',
    'owner',
    '/api/v1/namespaces/kube-system/configmaps',
    `${A}/configmaps`,
    '200',
    nothingOfB,
  ),
  moved(
    'a token of one’s own namespace in another',
    'owner',
    `${A}/serviceaccounts`,
    `${B}/serviceaccounts`,
    FORBIDDEN,
  ),
  moved('a token of namespaces', 'owner', '/api/v1/namespaces', `${A}/configmaps`, '200', nothingOfB),
  moved(
    'a token of cluster roles',
    'owner',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    `${A}/secrets`,
    '200',
    nothingOfB,
  ),
  moved('a token for who may list nothing', 'nobody', `${A}/secrets`, `${A}/secrets`, FORBIDDEN),
  moved(
    'a token of a list that one may read, for another',
    'watcher',
    `${A}/serviceaccounts`,
    `${A}/configmaps`,
    FORBIDDEN,
  ),
  moved('a token of another resource, everywhere', 'reader', '/api/v1/namespaces', '/api/v1/secrets', '200'),
  row('a token twice', 'owner', `GET ${A}/secrets?limit=1`, '200', async (world) => {
    const token = await tokenOf(world, `${A}/secrets`)
    return { query: `&continue=${token}&continue=x` }
  }),
  row('a token for a watch', 'owner', `GET ${A}/secrets?watch=1&timeoutSeconds=1`, '422 Invalid', async (world) => ({
    query: `&continue=${await tokenOf(world, `${A}/secrets`)}`,
  })),
  row(
    'a token for a collection that is deleted',
    'owner',
    `DELETE ${A}/serviceaccounts?dryRun=All&labelSelector=x%3Dy`,
    '200',
    async (world) => ({
      query: `&continue=${await tokenOf(world, `${A}/serviceaccounts`)}`,
    }),
  ),
  row(
    'a token whose place was changed',
    'owner',
    `GET ${A}/secrets?limit=500`,
    '400 BadRequest',
    async (world) => {
      const token = decodeURIComponent(await tokenOf(world, `${A}/secrets`))
      const text = Buffer.from(token, 'base64url').toString()
      return {
        query: `&continue=${Buffer.from(text.replace(/"start":"[^"]*"/, '"start":"../b/"')).toString('base64url')}`,
      }
    },
    nothingOfB,
  ),
]
