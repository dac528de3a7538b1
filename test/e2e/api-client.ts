// Plain requests with a kubeconfig's credential, for what kubectl is too slow or too polite for.
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
    // Written by Kedge.
    const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
      clusters: [{ cluster: { server: string } }]
      users: [{ user: { token: string } }]
    }
    this.#server = config.clusters[0].cluster.server
    this.token = config.users[0].user.token
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.open(method, path, body)
    let text = ''
    for await (const part of response.setEncoding('utf8')) text += part as string
    return { status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] }
  }

  open(method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json', ...more }
      const outgoing = request(this.#server + path, { method, headers, agent: this.#agent }, resolve)
      outgoing.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
