// Chooses an action for a message with a model in the app. Add elizainference-0.1.0.aar of a release to the app (see
// android/README.md), libllama.so with its libggml*.so to jniLibs, and bring the model to the app's folder of files.

package eliza.example

import android.app.Activity
import android.os.Bundle
import android.widget.TextView
import eliza.inference.Constraint
import eliza.inference.ElizaException
import eliza.inference.Mode
import eliza.inference.Model
import eliza.inference.StreamConfig
import java.io.File
import java.util.concurrent.Executors

class RouterActivity : Activity() {
    private val worker = Executors.newSingleThreadExecutor()

    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        val answer = TextView(this)
        setContentView(answer)
        worker.execute { // a model takes longer than the thread of the screen may
            val text = try {
                choose("set a timer for ten minutes")
            } catch (problem: ElizaException) {
                "${problem.statusName()}: ${problem.message}"
            }
            runOnUiThread { answer.text = text } // prints: SET_TIMER
        }
    }

    override fun onDestroy() {
        worker.shutdown()
        super.onDestroy()
    }

    private fun choose(message: String): String {
        System.loadLibrary("llama") // the library uses the one that is loaded
        Model.open(File(filesDir, "model.gguf").path).use { model ->
            val actions = listOf(" REPLY", " SEND_EMAIL", " SET_TIMER", " PLAY_MUSIC")
            Constraint.choices(model.vocabulary(), actions).use { constraint ->
                model.stream(StreamConfig()).use { stream ->
                    val action = StringBuilder()
                    stream.prefill(model.tokenize("User: $message\nAction:", true, false))
                    stream.setConstraint(constraint, Mode.GREEDY)
                    stream.generate(16) { _, part ->
                        action.append(part)
                        true
                    }
                    return action.toString().trim()
                }
            }
        }
    }
}
