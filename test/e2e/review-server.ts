/**
 * A server that reviews tokens and access, and answers in every way a server can. Rows say what a client of the API
 * server then gets; each was observed at kube-apiserver 1.36.3, and `differs` says where ours is stricter.
 */
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'

type Review = Readonly<Record<string, any>>
/** @param time the how manieth question of this name it is */
type Answering = (review: Review, response: ServerResponse, time: number) => void

const json = (response: ServerResponse, body: unknown): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
const withStatus =
  (status: unknown, more: object = {}): Answering =>
  (review, response) =>
    json(response, { ...review, status, ...more })
const text =
  (body: string, contentType = 'application/json', code = 200): Answering =>
  (_, response) =>
    response.writeHead(code, { 'content-type': contentType }).end(body)
const headers =
  (code: number, more: Record<string, string> = {}): Answering =>
  (_, response) =>
    response.writeHead(code, { 'content-type': 'text/plain', ...more }).end('why')
const first =
  (times: number, at: Answering, then: Answering): Answering =>
  (review, response, time) =>
    (time <= times ? at : then)(review, response, time)
/** TCP connections by the port they come from: TLS hides them. Bound: the server's. */
const connections = new Map<number | undefined, Socket>()
const reset: Answering = (_, response) => void connections.get(response.socket?.remotePort)?.resetAndDestroy()
const hang: Answering = () => {}

/** What answers to both kinds of questions have in common. @param good a status that is a yes */
const transports = (good: object): Readonly<Record<string, Answering>> => {
  const yes = withStatus(good)
  return {
    'an empty body': text(''),
    null: text('null'),
    'a list': text('[]'),
    'no members': text('{}'),
    'a JSON text': text('"yes"'),
    'broken JSON': text('{"status":'),
    'two objects': (review, response) => text(JSON.stringify({ ...review, status: good }) + '{}')(review, response, 1),
    HTML: text('<html>yes</html>', 'text/html'),
    'JSON called HTML': (review, response) =>
      text(JSON.stringify({ ...review, status: good }), 'text/html')(review, response, 1),
    YAML: ({ apiVersion, kind }, response) =>
      text(`apiVersion: ${apiVersion}\nkind: ${kind}\nstatus: ${JSON.stringify(good)}\n`, 'application/yaml')(
        {},
        response,
        1,
      ),
    'another version': withStatus(good, { apiVersion: 'authentication.k8s.io/v2' }),
    'another group': withStatus(good, { apiVersion: 'apps/v1' }),
    'another kind': withStatus(good, { kind: 'Pod' }),
    'no kind': withStatus(good, { kind: undefined }),
    'no version': withStatus(good, { apiVersion: undefined }),
    'a Status': text('{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":403}'),
    'a status of null': withStatus(null),
    'a status that is a text': withStatus('yes'),
    'more than was asked for': withStatus({ ...good, more: { than: 1 } }, { more: true }),
    'more than 3 MiB': withStatus({ ...good, error: 'x'.repeat(3_300_000) }),
    '400': headers(400),
    '401': headers(401),
    '403': headers(403),
    '404': headers(404),
    '503': headers(503),
    '201': (review, response, time) => {
      response.statusCode = 201
      yes(review, response, time)
    },
    '299': (review, response, time) => {
      response.statusCode = 299
      yes(review, response, time)
    },
    '500, then a yes': first(1, headers(500), yes),
    '429, then a yes': first(1, headers(429, { 'retry-after': '1' }), yes),
    '503 and Retry-After, then a yes': first(1, headers(503, { 'retry-after': '1' }), yes),
    'a reset, then a yes': first(1, reset, yes),
    'a redirect by 302': headers(302, { location: '/good' }),
    'a redirect by 307': headers(307, { location: '/good' }),
    gzip: (review, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync(JSON.stringify({ ...review, status: good }))),
    'half of it': (review, response) => {
      const whole = JSON.stringify({ ...review, status: good })
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length + 10 })
      response.write(whole)
      setTimeout(() => response.destroy(), 50)
    },
  }
}

const ANNA = { username: 'anna', uid: 'u1', groups: ['dev'] }
const known = (user: unknown, more: object = {}): Answering => withStatus({ authenticated: true, user, ...more })

/** By token. */
export const tokenAnswers: Readonly<Record<string, Answering>> = {
  good: known({ ...ANNA, extra: { 'example.com/team': ['blue', 'red'] } }),
  ...transports({ authenticated: true, user: ANNA }),
  'not known': withStatus({ authenticated: false }),
  'not known, and why': withStatus({ authenticated: false, error: 'expired' }),
  'not known, with a user': withStatus({ authenticated: false, user: ANNA }),
  'known, and an error': known(ANNA, { error: 'odd' }),
  'known as a text': withStatus({ authenticated: 'true', user: ANNA }),
  'known as a number': withStatus({ authenticated: 1, user: ANNA }),
  'known twice': text(
    '{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":false,"authenticated":true,"user":{"username":"anna"}}}',
  ),
  'known in capitals': withStatus({ Authenticated: true, user: ANNA }),
  'nobody said': withStatus({ user: ANNA }),
  'no user': withStatus({ authenticated: true }),
  'a user of null': known(null),
  'no name': known({ groups: ['dev'] }),
  'an empty name': known({ username: '', uid: 'u1' }),
  'a name that is a number': known({ username: 7 }),
  'a name of a node': known({ username: 'system:node:a', groups: ['system:nodes'] }),
  'a uid that is a number': known({ ...ANNA, uid: 7 }),
  'groups of null': known({ ...ANNA, groups: null }),
  'groups that are a text': known({ ...ANNA, groups: 'dev' }),
  'groups that are numbers': known({ ...ANNA, groups: [1] }),
  'a group of null': known({ ...ANNA, groups: [null] }),
  'an empty group': known({ ...ANNA, groups: ['', 'dev'] }),
  'a group twice': known({ ...ANNA, groups: ['dev', 'dev'] }),
  'the group of everybody who is known': known({ ...ANNA, groups: ['system:authenticated', 'dev'] }),
  'the group of everybody who is not': known({ ...ANNA, groups: ['system:unauthenticated'] }),
  'extra in capitals': known({ ...ANNA, extra: { 'Example.com/Team': ['a'] } }),
  'extra without a key': known({ ...ANNA, extra: { '': ['a'] } }),
  'extra with a space': known({ ...ANNA, extra: { 'a b%2F': ['a'] } }),
  'extra of a prototype': text(
    '{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":true,"user":{"username":"anna","extra":{"__proto__":["a"],"constructor":["b"]}}}}',
  ),
  'extra that is a text': known({ ...ANNA, extra: { a: 'b' } }),
  'extra of null': known({ ...ANNA, extra: { a: null } }),
  'extra of an empty list': known({ ...ANNA, extra: { a: [] } }),
  'extra that is a list': known({ ...ANNA, extra: ['a'] }),
  'another audience': known(ANNA, { audiences: ['elsewhere'] }),
  'no audience': known(ANNA, { audiences: [] }),
  'an audience that is a text': known(ANNA, { audiences: 'elsewhere' }),
}

/** By namespace. */
export const accessAnswers: Readonly<Record<string, Answering>> = {
  good: withStatus({ allowed: true, reason: 'why not' }),
  ...transports({ allowed: true }),
  'no opinion': withStatus({ allowed: false, reason: 'not mine' }),
  'no opinion, in two lines': withStatus({ allowed: false, reason: 'not\nmine' }),
  denied: withStatus({ allowed: false, denied: true, reason: 'no' }),
  'allowed and denied': withStatus({ allowed: true, denied: true, reason: 'both' }),
  'allowed as a text': withStatus({ allowed: 'true' }),
  'allowed as a number': withStatus({ allowed: 1 }),
  'allowed in capitals': withStatus({ Allowed: true }),
  'allowed, and an error': withStatus({ allowed: true, evaluationError: 'odd' }),
  'an error': withStatus({ allowed: false, evaluationError: 'odd' }),
  'denied, and an error': withStatus({ denied: true, evaluationError: 'odd' }),
  'a reason that is a number': withStatus({ allowed: true, reason: 7 }),
  nothing: withStatus({}),
  hanging: hang,
}

/** As a token or a namespace is called, which have no spaces. */
export const wordOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

const byWord = (answers: Readonly<Record<string, Answering>>): ReadonlyMap<string, Answering> =>
  new Map(Object.entries(answers).map(([name, answer]) => [wordOf(name), answer]))

export async function startReviewServer() {
  const authority = await createAuthority({ commonName: 'reviews' }, new Date(), 30)
  const leaf = { subject: { commonName: 'reviews' }, usage: 'server', names: ['127.0.0.1'], days: 30 } as const
  const { key, certificate } = await issue(authority, leaf, new Date())
  const tokens = byWord(tokenAnswers)
  const namespaces = byWord(accessAnswers)
  /** How often what was asked about. */
  const asked = new Map<string, number>()
  const server = createServer({ key, cert: certificate }, (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      const review = JSON.parse(body || '{"spec":{}}')
      const { token, resourceAttributes: { namespace = '' } = {} } = review.spec
      // who follows a redirect gets a yes
      if (request.url === '/good')
        return withStatus(token === undefined ? { allowed: true } : { authenticated: true, user: ANNA })(
          review,
          response,
          1,
        )
      // d- or n-, as the policy is where it fails, says the namespace
      const word = token ?? namespace.slice(2)
      const name = token ?? namespace
      asked.set(name, (asked.get(name) ?? 0) + 1)
      const answer = (token === undefined ? namespaces : tokens).get(word)
      if (answer === undefined) return headers(404)(review, response, 1)
      return answer(review, response, asked.get(name)!)
    })
  })
  server.on('connection', (socket: Socket) => {
    connections.set(socket.remotePort, socket)
    socket.once('close', () => connections.delete(socket.remotePort))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on TCP
  const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: '${url}/review', certificate-authority-data: ${btoa(authority.certificate)}}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { kubeconfig, asked, close }
}

/** Namespaces n-* are asked about with the policy NoOpinion, d-* with Deny. @param file kubeconfig */
export const authorizationConfiguration = (file: string): string => `apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- {type: Node, name: node}
- {type: RBAC, name: rbac}
${(['NoOpinion', 'Deny'] as const)
  .map(
    (failurePolicy) => `- type: Webhook
  name: ${failurePolicy.toLowerCase()}
  webhook:
    timeout: 10s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: ${failurePolicy}
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: ${file}}
    matchConditions: [{expression: "has(request.resourceAttributes) && request.resourceAttributes.namespace.startsWith('${failurePolicy[0]!.toLowerCase()}-')"}]`,
  )
  .join('\n')}
`
