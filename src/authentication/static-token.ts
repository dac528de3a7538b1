/**
 * Static tokens: rows of `token,user name,user uid,"group,group"`, as in the file of kube-apiserver's
 * --token-auth-file. They are valid until the server starts with others.
 */
import type { UserInfo } from '../request/user-info.ts'
import { authenticated } from '../request/user-info.ts'
import { BadConfiguration } from './configuration-text.ts'

const COLUMNS = 3

/** The fields of a row (RFC 4180). Wrong quoting is an error. */
function fieldsOf(row: string): string[] {
  const fields: string[] = []
  const field = /("(?:[^"]|"")*"|[^",]*)(,|$)/y
  for (;;) {
    const [whole, text = '', end] = field.exec(row) ?? []
    if (whole === undefined) throw new BadConfiguration('the token file has a row that is not quoted as CSV is')
    fields.push(text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text)
    if (end === '') return fields
  }
}

/**
 * By token. Of two rows with one token the last one counts.
 * @throws BadConfiguration
 */
export function readTokenFile(csv: string): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>()
  for (const row of csv.split(/\r?\n/)) {
    if (row === '') continue
    const fields = fieldsOf(row)
    if (fields.length < COLUMNS)
      throw new BadConfiguration(
        `token file must have at least 3 columns (token, user name, user uid), found ${fields.length}`,
      )
    const [token = '', name = '', uid = '', groups] = fields
    if (token !== '') users.set(token, authenticated({ name, uid, groups: groups?.split(',') ?? [] }))
  }
  return users
}

let known: { readonly csv: string; readonly users: ReadonlyMap<string, UserInfo> } | undefined

/** Undefined where no row has the token. */
export async function authenticateStaticToken(csv: string, token: string): Promise<UserInfo | undefined> {
  let users = known?.csv === csv ? known.users : undefined
  if (users === undefined) known = { csv, users: (users = await byHash(csv)) }
  // by its hash, so that the time of the look-up says nothing about the tokens
  return users.get(await hashOf(token))
}

async function byHash(csv: string): Promise<ReadonlyMap<string, UserInfo>> {
  const rows = [...readTokenFile(csv)].map(async ([token, user]) => [await hashOf(token), user] as const)
  return new Map(await Promise.all(rows))
}

async function hashOf(token: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  return String.fromCharCode(...new Uint8Array(digest))
}
