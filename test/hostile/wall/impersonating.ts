// Impersonation needs the right for each attribute: the name, the UID, every group and every extra value.
import { row, stricter } from './row.ts'
import type { Headers, Row } from './row.ts'

const PATH = 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews'
const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
const as = (headers: Headers) => ({ headers, body })
const asked = (rule: string, answer: string, headers: Headers, who: Row['who'] = 'impersonator'): Row =>
  row(rule, who, PATH, answer, as(headers))

const FORBIDDEN = '403 Forbidden'
const alice = { 'Impersonate-User': 'alice' }

export const impersonating: readonly Row[] = [
  asked('the name that is allowed', '201', alice),
  asked('a group that is allowed', '201', { ...alice, 'Impersonate-Group': 'developers' }),
  asked('a uid that is allowed', '201', { ...alice, 'Impersonate-Uid': 'u-1' }),
  asked('an extra that is allowed', '201', { ...alice, 'Impersonate-Extra-Scopes': 'view' }),
  asked('an account that is allowed', '201', { 'Impersonate-User': 'system:serviceaccount:a:nobody' }),
  asked('blanks around a name are none of it', '201', { 'Impersonate-User': 'alice ' }),
  asked('an account of that name in any namespace', '201', {
    'Impersonate-User': 'system:serviceaccount:kube-system:nobody',
  }),
  ...[
    'bob',
    'Alice',
    'system:admin',
    'system:anonymous',
    'system:node:n1',
    'system:kube-controller-manager',
    'system:serviceaccount:b:default',
    'system:serviceaccount:a:owner',
    'system:serviceaccount:a:nobody:x',
    'system:serviceaccount:a',
    'system:serviceaccount::nobody',
    '*',
    '__proto__',
  ].map((name) => asked(`another name: ${JSON.stringify(name)}`, FORBIDDEN, { 'Impersonate-User': name })),
  ...['system:masters', 'system:nodes', 'system:serviceaccounts', 'system:authenticated', 'Developers', '*', ''].map(
    (group) => asked(`another group: ${JSON.stringify(group)}`, FORBIDDEN, { ...alice, 'Impersonate-Group': group }),
  ),
  asked('one allowed group carries no other', FORBIDDEN, {
    ...alice,
    'Impersonate-Group': ['developers', 'system:masters'],
  }),
  stricter(
    '400', // workerd cannot tell this line from two lines
    asked('a list in one line is one group', FORBIDDEN, {
      ...alice,
      'Impersonate-Group': 'developers, system:masters',
    }),
  ),
  ...['u-2', 'U-1', '*'].map((uid) => asked(`another uid: ${uid}`, FORBIDDEN, { ...alice, 'Impersonate-Uid': uid })),
  ...['edit', 'View', '*', ''].map((value) =>
    asked(`another extra: ${JSON.stringify(value)}`, FORBIDDEN, { ...alice, 'Impersonate-Extra-Scopes': value }),
  ),
  asked('an extra under another key', FORBIDDEN, { ...alice, 'Impersonate-Extra-Other': 'view' }),
  asked('an extra under a key in escapes', FORBIDDEN, { ...alice, 'Impersonate-Extra-%73copes': 'edit' }),
  asked('an extra whose escape is none', FORBIDDEN, { ...alice, 'Impersonate-Extra-%zz': 'view' }),
  asked('an extra of Object.prototype', FORBIDDEN, { ...alice, 'Impersonate-Extra-__proto__': 'view' }),
  asked('one allowed value carries no other', FORBIDDEN, { ...alice, 'Impersonate-Extra-Scopes': ['view', 'edit'] }),
  // without Impersonate-User
  asked('a group of nobody', '400 BadRequest', { 'Impersonate-Group': 'developers' }),
  asked('a group of nobody, which is not allowed', '400 BadRequest', { 'Impersonate-Group': 'system:masters' }),
  asked('a uid of nobody', '400 BadRequest', { 'Impersonate-Uid': 'u-1' }),
  asked('an extra of nobody', '400 BadRequest', { 'Impersonate-Extra-Scopes': 'view' }),
  asked('an empty name', '201', { 'Impersonate-User': '' }),
  asked('an empty name with a group', '400 BadRequest', {
    'Impersonate-User': '',
    'Impersonate-Group': 'system:masters',
  }),
  asked('an empty name with a uid', '400 BadRequest', { 'Impersonate-User': '', 'Impersonate-Uid': 'u-1' }),
  // kube-apiserver takes the first of two values
  asked('two names', '201', { 'Impersonate-User': ['alice', 'system:admin'] }),
  asked('two uids', '201', { ...alice, 'Impersonate-Uid': ['u-1', 'u-2'] }),
  // without rights
  asked('without any right', FORBIDDEN, alice, 'nobody'),
  asked('without any right, a group', '400 BadRequest', { 'Impersonate-Group': 'x' }, 'nobody'),
  asked('without a name of one’s own', FORBIDDEN, alice, 'anonymous'),
  asked('everything in one namespace is no leave', FORBIDDEN, { 'Impersonate-User': 'system:admin' }, 'owner'),
  asked('but for the accounts in it', '201', { 'Impersonate-User': 'system:serviceaccount:a:impersonator' }, 'owner'),
  asked('not for those of another', FORBIDDEN, { 'Impersonate-User': 'system:serviceaccount:b:default' }, 'owner'),
  asked(
    'nor with groups of masters',
    FORBIDDEN,
    {
      'Impersonate-User': 'system:serviceaccount:a:nobody',
      'Impersonate-Group': 'system:masters',
    },
    'owner',
  ),
  row(
    'who speaks for another has the other’s rights',
    'impersonator',
    'GET /api/v1/namespaces/b/secrets/one',
    FORBIDDEN,
    {
      headers: alice,
    },
  ),
  row('and not more by a header that looks alike', 'nobody', 'GET /api/v1/namespaces/b/secrets/one', FORBIDDEN, {
    headers: { Impersonate_User: 'system:admin', Impersonate_Group: 'system:masters' },
  }),
  ...['X-Remote-User', 'X-Remote-Group', 'X-Remote-Extra-Scopes', 'X-Forwarded-User', 'X-Auth-User', 'Remote-User'].map(
    (header) =>
      row(`the header ${header} is a front proxy’s`, 'nobody', 'GET /api/v1/namespaces/b/secrets/one', FORBIDDEN, {
        headers: { [header]: 'system:admin', 'X-Remote-Group': 'system:masters' },
      }),
  ),
  ...['X-Remote-User', 'X-Remote-Group'].map((header) =>
    row(`nor does a node say ${header}`, 'node', 'GET /api/v1/namespaces/b/secrets/one', FORBIDDEN, {
      headers: { [header]: 'system:admin' },
    }),
  ),
  // headers that a client calls hop-by-hop: a proxy that strips them would strip the identity
  ...['Impersonate-User', 'Authorization', 'X-Remote-User', 'Host', 'Audit-Id'].map((name) =>
    row(
      `Connection names ${name}, which stays`,
      'impersonator',
      'GET /api/v1/namespaces/b/secrets/one',
      '403 Forbidden',
      {
        headers: { ...alice, Connection: `close, ${name}` },
      },
    ),
  ),
  row('Connection names the own token, which stays', 'reader', 'GET /api/v1/namespaces/b/secrets/one', '200', {
    headers: { Connection: 'close, Authorization' },
  }),
]
