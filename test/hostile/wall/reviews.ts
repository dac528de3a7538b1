// Answers of an authentication webhook, and whether the server accepts the token. The operator trusts the webhook: it
// may name any user. An answer that is not clear authenticates nobody.
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

type Review = Record<string, unknown>
export interface Lie {
  readonly what: string
  /** The status of a request that needs system:masters, made with the token. */
  readonly answer: number
  /** The status that Kedge answers where it refuses a token that kube-apiserver accepts. */
  readonly own?: number
  readonly tell: (review: Review, response: ServerResponse) => void
}

const EVE = { username: 'eve', groups: ['system:masters'] }
const YES = { authenticated: true, user: EVE }
const json = (value: unknown, code = 200, headers: Record<string, string> = {}) => {
  return (_: Review, response: ServerResponse): void => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers })
    response.end(typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value))
  }
}
const V1 = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1' }
const says = (status: unknown, more: object = {}) => json({ ...V1, ...more, status })
const lie = (what: string, answer: number, tell: Lie['tell'], own?: number): Lie => ({
  what,
  answer,
  tell,
  ...(own === undefined ? {} : { own }),
})
const LET_IN = 200
const FORBIDDEN = 403
const REFUSED = 401

export const lies: readonly Lie[] = [
  lie('a master', LET_IN, says(YES)),
  lie('somebody else', FORBIDDEN, says({ authenticated: true, user: { username: 'eve' } })),
  lie('a no', REFUSED, says({ authenticated: false, user: EVE })),
  lie('nothing', REFUSED, says({})),
  lie('a user alone', REFUSED, says({ user: EVE })),
  lie('no status', REFUSED, json(V1)),
  lie('a status that is null', REFUSED, says(null)),
  lie('a status that is a list', REFUSED, says([YES])),
  lie('a status that is text', REFUSED, says('authenticated')),
  ...['true', 1, 'yes', {}, [], [true]].map((value) =>
    lie(`authenticated: ${JSON.stringify(value)}`, REFUSED, says({ authenticated: value, user: EVE })),
  ),
  lie('authenticated: null', REFUSED, says({ authenticated: null, user: EVE })),
  lie('authenticated in other letters', REFUSED, says({ Authenticated: true, user: EVE })),
  lie(
    'a no and a yes',
    LET_IN,
    json(
      `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":false,"authenticated":true,"user":${JSON.stringify(EVE)}}}`,
    ),
  ),
  lie(
    'a yes and a no',
    REFUSED,
    json(
      `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":true,"authenticated":false,"user":${JSON.stringify(EVE)}}}`,
    ),
  ),
  lie('a yes with an error', LET_IN, says({ ...YES, error: 'no' })),
  lie('a Pod', REFUSED, says(YES, { kind: 'Pod', apiVersion: 'v1' })),
  lie('another kind of the group', REFUSED, says(YES, { kind: 'SelfSubjectReview' })),
  lie('a kind in other letters', REFUSED, says(YES, { kind: 'tokenreview' })),
  lie('a kind of Object.prototype', REFUSED, says(YES, { kind: 'constructor' })),
  lie('another group', REFUSED, says(YES, { apiVersion: 'authorization.k8s.io/v1' })),
  lie('another version', REFUSED, says(YES, { apiVersion: 'authentication.k8s.io/v1beta1' })),
  lie('a version that is not there', REFUSED, says(YES, { apiVersion: 'authentication.k8s.io/v9' })),
  lie('a version of three parts', REFUSED, says(YES, { apiVersion: 'a/b/c' })),
  lie('no kind', LET_IN, json({ apiVersion: V1.apiVersion, status: YES })),
  lie('no version', LET_IN, json({ kind: V1.kind, status: YES })),
  lie('neither', LET_IN, json({ status: YES })),
  lie('a kind that is a number', REFUSED, json({ ...V1, kind: 1, status: YES })),
  lie('a Status that succeeded', REFUSED, json({ kind: 'Status', apiVersion: 'v1', status: 'Success' })),
  lie('no user', FORBIDDEN, says({ authenticated: true }), REFUSED),
  lie('a user without a name', LET_IN, says({ authenticated: true, user: { groups: ['system:masters'] } }), REFUSED),
  lie('a user who is a list', REFUSED, says({ authenticated: true, user: [EVE] })),
  lie('a name that is a number', REFUSED, says({ authenticated: true, user: { ...EVE, username: 7 } })),
  lie(
    'groups that are text',
    REFUSED,
    says({ authenticated: true, user: { username: 'eve', groups: 'system:masters' } }),
  ),
  lie('groups of numbers', REFUSED, says({ authenticated: true, user: { username: 'eve', groups: [1] } })),
  lie('groups of nothing', FORBIDDEN, says({ authenticated: true, user: { username: 'eve', groups: [null] } })),
  lie(
    'groups in a map',
    REFUSED,
    says({ authenticated: true, user: { username: 'eve', groups: { 0: 'system:masters' } } }),
  ),
  lie(
    'a group in other letters',
    FORBIDDEN,
    says({ authenticated: true, user: { username: 'eve', groups: ['System:Masters'] } }),
  ),
  lie(
    'a group with blanks',
    FORBIDDEN,
    says({ authenticated: true, user: { username: 'eve', groups: [' system:masters'] } }),
  ),
  lie(
    'groups in one text',
    FORBIDDEN,
    says({ authenticated: true, user: { username: 'eve', groups: ['dev,system:masters'] } }),
  ),
  lie('extra of texts', REFUSED, says({ authenticated: true, user: { ...EVE, extra: { scopes: 'all' } } })),
  lie('extra that is a list', REFUSED, says({ authenticated: true, user: { ...EVE, extra: ['all'] } })),
  lie('extra of lists of numbers', REFUSED, says({ authenticated: true, user: { ...EVE, extra: { scopes: [1] } } })),
  lie(
    'extra under names of Object.prototype',
    LET_IN,
    json(
      `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":true,"user":{"username":"eve","groups":["system:masters"],"extra":{"__proto__":["x"],"constructor":["y"]}}}}`,
    ),
  ),
  lie('an uid that is a number', REFUSED, says({ authenticated: true, user: { ...EVE, uid: 7 } })),
  lie('members that nobody knows', LET_IN, says({ ...YES, more: 1 }, { spec: { token: 'other', more: [] }, more: {} })),
  lie(
    'the name of kube-apiserver itself',
    FORBIDDEN,
    says({ authenticated: true, user: { username: 'system:apiserver' } }),
  ),
  lie('the name of nobody', FORBIDDEN, says({ authenticated: true, user: { username: 'system:anonymous' } })),
  lie('audiences of somebody else', REFUSED, says({ ...YES, audiences: ['vault'] })),
  lie('audiences that are text', REFUSED, says({ ...YES, audiences: 'https://kubernetes.default.svc.cluster.local' })),
  lie('an audience of nothing', REFUSED, says({ ...YES, audiences: [''] })),
  lie('no audiences', LET_IN, says({ ...YES, audiences: [] })),
  lie('audiences that are null', LET_IN, says({ ...YES, audiences: null })),
  ...[400, 401, 403, 404, 409, 422, 501].map((code) =>
    lie(`a yes with ${code}`, REFUSED, json({ ...V1, status: YES }, code)),
  ),
  ...[201, 202].map((code) => lie(`a yes with ${code}`, LET_IN, json({ ...V1, status: YES }, code))),
  lie('204', REFUSED, (_, response) => void response.writeHead(204).end()),
  lie('an empty answer', REFUSED, json('')),
  lie('a blank', REFUSED, json(' ')),
  lie('half an answer', REFUSED, json(JSON.stringify({ ...V1, status: YES }).slice(0, -1))),
  lie('an answer with words behind', REFUSED, json(`${JSON.stringify({ ...V1, status: YES })} x`)),
  lie(
    'two answers',
    REFUSED,
    json(JSON.stringify({ ...V1, status: { authenticated: false } }) + JSON.stringify({ ...V1, status: YES })),
  ),
  lie('a list of answers', REFUSED, json([{ ...V1, status: YES }])),
  lie('a mark of octets before', LET_IN, json(`\ufeff${JSON.stringify({ ...V1, status: YES })}`)),
  lie(
    'NaN',
    REFUSED,
    json(
      `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":true,"user":{"username":NaN}}}`,
    ),
  ),
  lie(
    'lists nested a hundred thousand times',
    REFUSED,
    json(
      `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":true,"user":{"username":"eve","groups":["system:masters"],"extra":${'['.repeat(100_000)}${']'.repeat(100_000)}}}}`,
    ),
  ),
  lie('an answer of 4 MB', LET_IN, says({ ...YES, error: 'x'.repeat(4 << 20) }), REFUSED),
  lie('HTML', REFUSED, json('<html><body>ok</body></html>', 200, { 'content-type': 'text/html' })),
  lie(
    'packed, and saying so',
    LET_IN,
    json(gzipSync(JSON.stringify({ ...V1, status: YES })), 200, { 'content-encoding': 'gzip' }),
  ),
  lie('packed, and not saying so', REFUSED, json(gzipSync(JSON.stringify({ ...V1, status: YES })))),
  lie('a bomb', REFUSED, json(gzipSync(Buffer.alloc(50_000_000, ' ')), 200, { 'content-encoding': 'gzip' })),
  // kube-apiserver follows a redirect and sends the token along; Kedge does not follow it
  ...[301, 302, 303, 307, 308].map((code) =>
    lie(`a way to somebody else: ${code}`, LET_IN, json('', code, { location: '/elsewhere' }), REFUSED),
  ),
  lie(
    'a way to somebody else, with a yes',
    LET_IN,
    json({ ...V1, status: YES }, 302, { location: '/elsewhere' }),
    REFUSED,
  ),
]
