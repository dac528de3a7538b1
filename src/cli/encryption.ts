// `kedge encryption rewrite`: stores what is encrypted anew, with the first key of the server.
import { Agent, request } from 'node:https'
import type { Server } from './backup.ts'

/** Objects of one page: a Secret may have a megabyte. */
const PAGE = 50

interface Listed {
  readonly metadata: { readonly continue?: string }
  readonly items: readonly { readonly metadata: { readonly name: string; readonly namespace?: string } }[]
}

/**
 * Sends every object back as it is: the server writes it where it is stored with another key, or in the open. What
 * somebody else changes or deletes meanwhile is stored anew by that. May be interrupted and repeated.
 * @param resource `secrets`, `things.example.com`
 */
export async function rewrite(server: Server, resource: string): Promise<{ seen: number; written: number }> {
  const { prefix, name } = await pathOf(server, resource)
  let seen = 0
  let written = 0
  for (let next: string | undefined = ''; next !== undefined;) {
    const query: string = next === '' ? '' : `&continue=${encodeURIComponent(next)}`
    // answers of the API have these fields
    const page = (await ask(server, 'GET', `${prefix}/${name}?limit=${PAGE}${query}`)) as Listed
    for (const { metadata } of page.items) {
      seen++
      const space = metadata.namespace === undefined ? '' : `namespaces/${metadata.namespace}/`
      if (await rewriteOne(server, `${prefix}/${space}${name}/${metadata.name}`)) written++
    }
    next = page.metadata.continue
  }
  return { seen, written }
}

interface Versioned {
  readonly metadata: { readonly resourceVersion: string }
}

const GONE = 404
const CHANGED = 409

/** @returns whether it was stored anew */
async function rewriteOne(server: Server, path: string): Promise<boolean> {
  const object = (await ask(server, 'GET', path, undefined, [GONE])) as Versioned | undefined
  if (object === undefined) return false
  const answer = (await ask(server, 'PUT', path, object, [GONE, CHANGED])) as Versioned | undefined
  return answer !== undefined && answer.metadata.resourceVersion !== object.metadata.resourceVersion
}

async function pathOf(server: Server, resource: string): Promise<{ prefix: string; name: string }> {
  const [name = '', ...group] = resource.split('.')
  if (group.length === 0) return { prefix: '/api/v1', name }
  const { preferredVersion } = (await ask(server, 'GET', `/apis/${group.join('.')}`)) as {
    preferredVersion: { groupVersion: string }
  }
  return { prefix: `/apis/${preferredVersion.groupVersion}`, name }
}

/** @param accepted statuses beside 200 that are answered with undefined */
function ask(
  { url, token, authority }: Server,
  method: string,
  path: string,
  body?: unknown,
  accepted: readonly number[] = [],
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: 'application/json' }
    const sent = request(url + path, { method, agent: new Agent({ ca: authority }), headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const status = response.statusCode ?? 0
        if (accepted.includes(status)) resolve(undefined)
        else if (status === 200) resolve(JSON.parse(text))
        else reject(new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`))
      })
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
