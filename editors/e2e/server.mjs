// VS Code as a server: code-server on a free port of this machine, with folders of its own, and everything that descends from it.

import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync, openSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './until.mjs';

const entry = fileURLToPath(new URL('node_modules/code-server/out/node/entry.js', import.meta.url));

/** The variable that marks every process of one run, since children inherit it. */
const MARK = 'DAPPLE_E2E_RUN';

export class Server {
    /**
     * @param folder where its data, extensions and log go
     * @param user the user's settings
     * @param machine settings that a user's are not asked for when VS Code runs elsewhere, as paths on that machine
     * @param keys the user's keys for commands
     */
    constructor(folder, user, machine, keys) {
        this.folder = folder;
        this.mark = randomBytes(8).toString('hex');
        this.password = randomBytes(16).toString('hex');
        this.environment = { ...process.env, [MARK]: this.mark, PASSWORD: this.password };
        // What would tell it that it runs inside another one, and cargo to build otherwise than for a user.
        for (const name of Object.keys(this.environment)) {
            if (/^(VSCODE_|PORT$|RUSTFLAGS$|CARGO$|CARGO_(?!HOME$|NET_|HTTP_|REGISTRIES_))/.test(name)) delete this.environment[name];
        }
        this.folders = ['--user-data-dir', join(folder, 'data'), '--extensions-dir', join(folder, 'extensions')];
        for (const [whose, settings] of [['User', user], ['Machine', machine]]) {
            mkdirSync(join(folder, 'data', whose), { recursive: true });
            writeFileSync(join(folder, 'data', whose, 'settings.json'), JSON.stringify(settings, null, 4));
        }
        writeFileSync(join(folder, 'data/User/keybindings.json'), JSON.stringify(keys, null, 4));
        writeFileSync(join(folder, 'config.yaml'), '');
    }

    install(extension) {
        const done = spawnSync(process.execPath, [entry, ...this.folders, '--config', join(this.folder, 'config.yaml'), '--install-extension', extension], {
            env: this.environment,
            encoding: 'utf8',
        });
        if (done.status !== 0) throw new Error(`the extension cannot be installed:\n${done.stdout}${done.stderr}`);
    }

    /** Starts it and resolves to its address. */
    async start() {
        const log = openSync(join(this.folder, 'server.log'), 'w');
        this.process = spawn(
            process.execPath,
            [
                entry,
                ...this.folders,
                '--config',
                join(this.folder, 'config.yaml'),
                '--bind-addr',
                '127.0.0.1:0',
                '--auth',
                'password',
                '--disable-telemetry',
                '--disable-update-check',
                '--disable-workspace-trust',
                '--disable-getting-started-override',
            ],
            { env: this.environment, stdio: ['ignore', 'pipe', log] },
        );
        let said = '';
        return new Promise((resolve, reject) => {
            this.process.on('error', reject);
            this.process.on('exit', (code) => reject(new Error(`code-server ended with ${code}:\n${said}`)));
            this.process.stdout.setEncoding('utf8').on('data', (text) => {
                said += text;
                const address = /listening on (http:\S+)/.exec(said);
                if (address) resolve(address[1].replace(/\/$/, ''));
            });
        });
    }

    /** All processes that descend from this server, the server too: `{ pid, name, command }`. */
    processes() {
        const found = [];
        for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
            try {
                if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${MARK}=${this.mark}`)) continue;
                const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').join(' ').trim();
                found.push({ pid: Number(pid), name: basename(readlinkSync(`/proc/${pid}/exe`)), command });
            } catch {
                // It has ended meanwhile, or is another user's.
            }
        }
        return found;
    }

    /** Ends the server and resolves to what had to be killed. */
    async stop() {
        if (this.process && this.process.exitCode === null) {
            const ended = new Promise((resolve) => this.process.once('exit', resolve));
            this.process.kill('SIGTERM');
            await ended;
        }
        let left = [];
        await until('the processes to end', () => this.processes(), ({ length }) => length === 0).catch(() => {
            left = this.processes();
            for (const { pid } of left) process.kill(pid, 'SIGKILL');
        });
        return left;
    }
}
