// Plain requests with a kubeconfig's credential, for tests that kubectl is too slow for or that it cannot send.
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'

export interface Meta {
  readonly name: string
  readonly resourceVersion: string
  readonly uid: string
}

export interface ApiObject {
  readonly metadata: Meta
  readonly data?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly body: ApiObject & {
    readonly items?: readonly ApiObject[]
    readonly kind?: string
    readonly reason?: string
    readonly message?: string
  }
}

export class ApiClient {
  readonly #server: string
  readonly token: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false })

  constructor(kubeconfig: string) {
    // Kedge wrote this file.
    const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
      clusters: [{ cluster: { server: string } }]
      users: [{ user: { token: string } }]
    }
    this.#server = config.clusters[0].cluster.server
    this.token = config.users[0].user.token
  }

  async send(method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<Answer> {
    const response = await this.open(method, path, body, more)
    let text = ''
    for await (const part of response.setEncoding('utf8')) text += part as string
    try {
      return { status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] }
    } catch (error) {
      throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 200)}`, { cause: error })
    }
  }

  open(method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const headers = {
        Authorization: `Bearer ${this.token}`,
        'Content-Type': 'application/json',
        // Node sets no Content-Length for the body of a DELETE.
        'Content-Length': Buffer.byteLength(text),
        ...more,
      }
      const outgoing = request(this.#server + path, { method, headers, agent: this.#agent }, resolve)
      outgoing.on('error', reject).end(text)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
