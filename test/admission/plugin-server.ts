/** A server in memory whose settings enable admission plugins. Requests go through its whole chain. */
import { StatusError } from '../../src/api/status.ts'
import type { Env } from '../../src/env.ts'
import { answer } from '../../src/server.ts'
import type { MemoryServer } from '../request-in-memory.ts'
import { memoryServer } from '../request-in-memory.ts'

export const TOKEN = 'an-administrator-whose-token-is-long-enough'

export interface Answer {
  readonly code: number
  /** A Status where the request failed. */
  readonly body: Body
  readonly warnings: readonly string[]
}

// the fields of an answer that tests read
interface Body {
  readonly message?: string
  readonly reason?: string
  readonly details?: { readonly causes?: unknown }
  readonly metadata: { readonly labels?: object; readonly annotations?: object }
  readonly spec: Record<string, unknown>
}

export interface PluginServer {
  readonly memory: MemoryServer
  send(method: string, path: string, body?: object, user?: string): Promise<Answer>
  /** A namespace with the account that its pods need. */
  namespace(name: string, annotations?: Record<string, string>, labels?: Record<string, string>): Promise<void>
}

const types: Readonly<Record<string, string>> = { PATCH: 'application/strategic-merge-patch+json' }

export function pluginServer(
  settings: Partial<Env> = {},
  plugins: Readonly<Record<string, object>> = {},
): PluginServer {
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: Object.entries(plugins).map(([name, configuration]) => ({ name, configuration })),
  }
  const memory = memoryServer({
    KEDGE_ADMIN_TOKEN: TOKEN,
    KEDGE_ADMISSION_CONFIG: JSON.stringify(configuration),
    ...settings,
  })
  const send: PluginServer['send'] = async (method, path, body, user) => {
    const headers = {
      Authorization: `Bearer ${TOKEN}`,
      'Content-Type': types[method] ?? 'application/json',
      ...(user === undefined ? {} : { 'Impersonate-User': user }),
    }
    const request = memory.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    try {
      const response = await answer(request)
      return { code: response.status, body: (await response.json()) as Body, warnings: request.warnings }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return { code: error.code, body: error.status as unknown as Body, warnings: request.warnings }
    }
  }
  return {
    memory,
    send,
    async namespace(name, annotations = {}, labels = {}) {
      await send('POST', '/api/v1/namespaces', { metadata: { name, annotations, labels } })
      await send('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } })
    },
  }
}

export const pod = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})

/** The answer in a line: the code, and the message where it failed. */
export const lineOf = ({ code, body }: Answer): string => (code < 300 ? String(code) : `${code} ${body.message}`)
