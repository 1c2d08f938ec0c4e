// Starts as the adapter of each type the command that the folder's adapters.json has for it, which is read anew for each session.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const vscode = require('vscode');
const { contributes } = require('./package.json');

exports.activate = (context) => {
    const factory = {
        createDebugAdapterDescriptor({ type, workspaceFolder }) {
            const [command, ...args] = JSON.parse(readFileSync(join(workspaceFolder.uri.fsPath, 'adapters.json'), 'utf8'))[type];
            return new vscode.DebugAdapterExecutable(command, args);
        },
    };
    for (const { type } of contributes.debuggers) context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory(type, factory));
};
