// Requests that claim a user: by the headers of a proxy, by the header of the front, by impersonation.
import { row } from './row.ts'
import type { Headers, Row } from './row.ts'

const SECRET = 'GET /api/v1/namespaces/b/secrets/one'
const FORBIDDEN = '403 Forbidden'
const as = (headers: Headers) => ({ headers })

const PROXY_HEADERS: readonly Headers[] = [
  { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' },
  { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
  { 'X-REMOTE-USER': 'admin', 'X-REMOTE-GROUP': ['system:authenticated', 'system:masters'] },
  { X_Remote_User: 'admin', X_Remote_Group: 'system:masters' },
  { 'X-Remote-User': 'system:admin', 'X-Remote-Uid': '0', 'X-Remote-Extra-Scopes': 'all' },
  { 'X-Forwarded-User': 'admin', 'X-Forwarded-Groups': 'system:masters' },
  {
    'X-Client-Cert': 'admin',
    'X-SSL-Client-Verify': 'SUCCESS',
    'X-Forwarded-Client-Cert': 'Subject="O=system:masters"',
  },
  { 'Cf-Client-Cert': 'x', 'Cf-Access-Jwt-Assertion': 'x', 'CF-Connecting-IP': '127.0.0.1' },
]

const MASTERS: Headers = { 'Impersonate-User': 'alice', 'Impersonate-Group': 'system:masters' }

const WITHOUT_USER: readonly Headers[] = [
  { 'Impersonate-Group': 'system:masters' },
  { 'Impersonate-Uid': 'u-1' },
  { 'Impersonate-Extra-Scopes': 'view' },
  { 'Impersonate-User': '', 'Impersonate-Group': 'developers' },
]

export const borrowedNames: readonly Row[] = [
  ...PROXY_HEADERS.map((headers) =>
    row(`${Object.keys(headers)[0]} without a proxy’s certificate is air`, 'anonymous', SECRET, FORBIDDEN, as(headers)),
  ),
  ...PROXY_HEADERS.map((headers) =>
    row(`${Object.keys(headers)[0]} adds nothing to a token`, 'nobody', SECRET, FORBIDDEN, as(headers)),
  ),
  // impersonation
  row(
    'a user whom one may be, and who has no rights',
    'impersonator',
    SECRET,
    FORBIDDEN,
    as({ 'Impersonate-User': 'alice' }),
  ),
  row('a user whom one may be', 'impersonator', 'GET /api', '200', as({ 'Impersonate-User': 'alice' })),
  row(
    'a group that one may give',
    'impersonator',
    'GET /api',
    '200',
    as({ 'Impersonate-User': 'alice', 'Impersonate-Group': 'developers' }),
  ),
  row(
    'an extra that one may give',
    'impersonator',
    'GET /api',
    '200',
    as({ 'Impersonate-User': 'alice', 'Impersonate-Extra-Scopes': 'view' }),
  ),
  row(
    'a uid that one may give',
    'impersonator',
    'GET /api',
    '200',
    as({ 'Impersonate-User': 'alice', 'Impersonate-Uid': 'u-1' }),
  ),
  row(
    'an account that one may be',
    'impersonator',
    'GET /api',
    '200',
    as({ 'Impersonate-User': 'system:serviceaccount:a:nobody' }),
  ),
  row(
    'the same name in another namespace',
    'impersonator',
    'GET /api',
    '200',
    as({ 'Impersonate-User': 'system:serviceaccount:b:nobody' }),
  ),
  ...[
    'bob',
    'Alice',
    'system:admin',
    'system:anonymous',
    'system:kube-scheduler',
    'system:serviceaccount:a:owner',
    'system:serviceaccount:a:',
    'constructor',
    '__proto__',
  ].map((user) =>
    row(
      `the user ${JSON.stringify(user)} was not granted`,
      'impersonator',
      'GET /api',
      FORBIDDEN,
      as({ 'Impersonate-User': user }),
    ),
  ),
  ...['system:masters', 'system:nodes', 'system:authenticated', 'Developers', 'developers,system:masters'].map(
    (group) =>
      row(
        `the group ${group} was not granted`,
        'impersonator',
        'GET /api',
        FORBIDDEN,
        as({ 'Impersonate-User': 'alice', 'Impersonate-Group': group }),
      ),
  ),
  row(
    'one group of two was not granted',
    'impersonator',
    'GET /api',
    FORBIDDEN,
    as({ 'Impersonate-User': 'alice', 'Impersonate-Group': ['developers', 'system:masters'] }),
  ),
  row(
    'a uid that was not granted',
    'impersonator',
    'GET /api',
    FORBIDDEN,
    as({ 'Impersonate-User': 'alice', 'Impersonate-Uid': 'u-2' }),
  ),
  row(
    'an extra of another value',
    'impersonator',
    'GET /api',
    FORBIDDEN,
    as({ 'Impersonate-User': 'alice', 'Impersonate-Extra-Scopes': 'write' }),
  ),
  row(
    'one value of two',
    'impersonator',
    'GET /api',
    FORBIDDEN,
    as({ 'Impersonate-User': 'alice', 'Impersonate-Extra-Scopes': ['view', 'write'] }),
  ),
  ...['other', 'constructor', '__proto__', 'toString', 'scopes%2Fx'].map((key) =>
    row(
      `the extra ${key} was not granted`,
      'impersonator',
      'GET /api',
      FORBIDDEN,
      as({ 'Impersonate-User': 'alice', [`Impersonate-Extra-${key}`]: 'view' }),
    ),
  ),
  ...(['reader', 'owner', 'nobody', 'anonymous', 'scraper', 'node'] as const).map((who) =>
    row(
      'without the right, nobody becomes a master',
      who,
      SECRET,
      FORBIDDEN,
      as(
        who === 'node'
          ? {
              'Impersonate-Uid': 'x',
              ...MASTERS,
              'Impersonate-User': 'system:node:n1',
              'Impersonate-Group': 'system:nodes',
            }
          : MASTERS,
      ),
    ),
  ),
  ...WITHOUT_USER.map((headers) =>
    row(
      `${Object.keys(headers).join(' and ')} without a user is a mistake`,
      'impersonator',
      'GET /api',
      '400 BadRequest',
      as(headers),
    ),
  ),
  row('a master becomes nobody', 'admin', SECRET, FORBIDDEN, as({ 'Impersonate-User': 'alice' })),
  row(
    'a master who is anonymous is unauthenticated',
    'admin',
    SECRET,
    FORBIDDEN,
    as({ 'Impersonate-User': 'system:anonymous' }),
  ),
  row('a master is another master', 'admin', SECRET, '200', as(MASTERS)),
  row('an underscore makes no header of it', 'admin', SECRET, '200', as({ Impersonate_User: 'alice' })),
  row('in any case of letters', 'admin', SECRET, FORBIDDEN, as({ 'iMPERSONATE-uSER': 'alice' })),
]
