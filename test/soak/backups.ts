// Takes and restores backups while a server is killed; each is repeated until it is complete.
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Target } from './actors.ts'
import { SPACE } from './actors.ts'
import { pause } from './victim.ts'
import type { Victim } from './victim.ts'

export interface StoredObject {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion: string
    readonly deletionTimestamp?: string
    readonly ownerReferences?: readonly unknown[]
  }
  readonly data?: Readonly<Record<string, string>>
}

/** @returns the lines of the backup; undefined when the test is over */
export async function wholeBackup(target: Target): Promise<readonly string[] | undefined> {
  while (!target.stopped) {
    try {
      const lines = (await textOf(await target.client.open('GET', '/backup'))).trim().split('\n')
      if (lines.at(-1)?.startsWith('{"end":true')) return lines
    } catch {
      // the server was killed
    }
    await pause(100)
  }
  return undefined
}

// lines of a backup that are not objects have no kind
export const objectsIn = (backup: readonly string[]): StoredObject[] =>
  backup.map((line) => JSON.parse(line) as StoredObject).filter(({ kind }) => kind !== undefined)

/** @returns the number of tries */
export async function restore(victim: Victim, backup: readonly string[]): Promise<number> {
  const body = backup.map((line) => `${line}\n`).join('')
  for (let tries = 1; ; tries++) {
    const answer = await post(victim, body).catch(() => undefined)
    if (answer?.statusCode === 200) return tries
    // 409: the try before was complete, but its answer was lost
    if (answer?.statusCode === 409 && (await isThere(victim))) return tries
    await pause(100)
  }
}

async function isThere({ target }: Victim): Promise<boolean> {
  const answer = await target.client.send('GET', SPACE).catch(() => undefined)
  return answer?.status === 200
}

function post({ url, target }: Victim, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${target.client.token}`, 'Content-Type': 'application/jsonl' }
    const sent = request(`${url}/restore`, { method: 'POST', rejectUnauthorized: false, headers }, (answer) => {
      answer.resume().once('error', reject)
      resolve(answer)
    })
    sent.once('error', reject).end(body)
  })
}

/** Counts the objects by lists, again and again. @param counts collects each distinct count */
export async function countAll(target: Target, counts: Set<number>): Promise<void> {
  while (!target.stopped) {
    const answer = await target.client.send('GET', `${SPACE}/configmaps`).catch(() => undefined)
    if (answer?.status === 200) counts.add(answer.body.items?.length ?? 0)
    await pause(20)
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  if (answer.statusCode !== 200) throw new Error(String(answer.statusCode))
  let text = ''
  for await (const part of answer.setEncoding('utf8')) text += part as string
  return text
}
