// Reads configurations that may change while a local server runs. The engine has no file system, so it asks at a
// socket in a directory that only the user who started the server may enter (src/authentication/reloaded.ts).
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { ownValue } from '../../base/own.ts'
import { KUBECONFIG_PATH, NO_FILE } from '../../webhooks/configuration-server.ts'
import { WRONG_SETTINGS } from '../../settings.ts'
import { engineAnswer } from './answer.ts'
import { listenAt } from './listen-at.ts'
import { connectionOfKubeconfig } from '../flags/webhook-kubeconfig.ts'

/** Paths of files, by the engine's names for them. */
export type ConfigurationFiles = Readonly<Partial<Record<'authentication' | 'authorization', string>>>

export interface ConfigurationServer {
  close(): void
}

export async function serveConfigurationFiles(
  socket: string,
  files: ConfigurationFiles,
  read: (file: string) => Promise<string> = (file) => readFile(file, 'utf8'),
): Promise<ConfigurationServer> {
  const textOf = async (asked: string): Promise<string> => {
    if (!asked.startsWith(KUBECONFIG_PATH)) return read(ownValue<string | undefined>(files, asked.slice(1)) ?? '')
    const file = decodeURIComponent(asked.slice(KUBECONFIG_PATH.length))
    return JSON.stringify(connectionOfKubeconfig(await read(file), file))
  }
  const server = createServer(({ url = '' }, response) => {
    if (!url.startsWith(KUBECONFIG_PATH) && !Object.hasOwn(files, url.slice(1)))
      return void response.writeHead(NO_FILE).end('there is no such configuration')
    textOf(url).then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    )
  })
  await listenAt(server, socket)
  return {
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/**
 * The error that the engine reports about these configurations, and others; undefined where it has none. A control plane
 * whose restore was cut short answers 503 as well, and must start, so that somebody can repeat the restore.
 */
export async function configurationProblemAt(socket: string): Promise<string | undefined> {
  const answer = await engineAnswer(socket, '/version')
  if (answer.status !== 503) return undefined
  // a Status of the Worker's (src/server.ts)
  const { message } = JSON.parse(answer.body) as { message: string }
  return message.startsWith(WRONG_SETTINGS) ? message : undefined
}
