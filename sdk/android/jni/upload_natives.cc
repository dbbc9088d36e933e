// Uploads through Java's HTTP client: the library's upload thread calls dev.jankbox.Native, which
// passes the reply to the methods here before it returns.
#include <algorithm>
#include <cstring>
#include <string>

#include "jankbox/upload.h"
#include "sdk/android/jni/native_methods.h"
#include "sdk/android/jni/native_text.h"

namespace jankbox {
namespace {

constexpr jint kLocals = 8;

struct Callback {
  JavaVM* vm;
  jclass native;
  jmethodID post;
};
Callback g_callback;  // from JNI_OnLoad on

// A post under way; Java knows it by its address.
struct Exchange {
  const jankbox_post* post;
  jankbox_reply* reply;
};

Exchange* ExchangeOf(jlong handle) {
  return reinterpret_cast<Exchange*>(static_cast<uintptr_t>(handle));
}

template <size_t kSize>
void CopyText(const std::string& text, char (&field)[kSize]) {
  const size_t bytes = std::min(text.size(), kSize - 1);
  memcpy(field, text.data(), bytes);
  field[bytes] = '\0';
}

// The type of the first argument is one in Android's jni.h and another in the JDK's.
template <typename Env>
jint Attach(jint (JavaVM::*attach)(Env**, void*), JNIEnv** env) {
  char name[] = "jankbox-upload";
  JavaVMAttachArgs arguments = {JNI_VERSION_1_6, name, nullptr};
  return (g_callback.vm->*attach)(reinterpret_cast<Env**>(env), &arguments);
}

void CallJava(JNIEnv* env, Exchange* exchange) {
  const jankbox_post& post = *exchange->post;
  if (env->PushLocalFrame(kLocals) != JNI_OK) {
    env->ExceptionClear();
    return CopyText("Java is out of memory", exchange->reply->error);
  }
  jstring url = env->NewStringUTF(post.url);
  jstring type = url == nullptr ? nullptr : env->NewStringUTF(post.content_type);
  jstring agent = type == nullptr ? nullptr : env->NewStringUTF(post.user_agent);
  if (agent != nullptr) {
    env->CallStaticVoidMethod(
        g_callback.native, g_callback.post,
        static_cast<jlong>(reinterpret_cast<uintptr_t>(exchange)), url, type, agent,
        static_cast<jint>(post.fd), static_cast<jlong>(post.body_bytes),
        static_cast<jint>(post.connect_timeout_ms), static_cast<jint>(post.total_timeout_ms));
  }
  if (env->ExceptionCheck() == JNI_TRUE) {
    env->ExceptionClear();
    exchange->reply->http_status = 0;
    CopyText("the Java HTTP client threw an exception", exchange->reply->error);
  }
  env->PopLocalFrame(nullptr);
}

// A jankbox_transport. Attached only for the call: a thread that ends attached ends the process.
void PostThroughJava(void*, const jankbox_post* post, jankbox_reply* reply) {
  JNIEnv* env = nullptr;
  if (Attach(&JavaVM::AttachCurrentThreadAsDaemon, &env) != JNI_OK) {
    return CopyText("the upload thread could not be attached to the Java VM", reply->error);
  }
  Exchange exchange = {post, reply};
  CallJava(env, &exchange);
  g_callback.vm->DetachCurrentThread();
}

void JNICALL AnswerPost(JNIEnv* env, jclass, jlong handle, jint status, jstring retry_after,
                        jbyteArray body, jint bytes) {
  jankbox_reply* reply = ExchangeOf(handle)->reply;
  const uint32_t length = static_cast<uint32_t>(std::max(bytes, 0));
  if (length > reply->body_capacity) return;
  env->GetByteArrayRegion(body, 0, bytes, reinterpret_cast<jbyte*>(reply->body));
  if (env->ExceptionCheck() == JNI_TRUE) return;
  reply->http_status = status;
  reply->body_bytes = length;
  CopyText(TextOf(env, retry_after), reply->retry_after);
}

void JNICALL FailPost(JNIEnv* env, jclass, jlong handle, jstring error) {
  CopyText(TextOf(env, error), ExchangeOf(handle)->reply->error);
}

jboolean JNICALL PostCancelled(JNIEnv*, jclass, jlong handle) {
  const jankbox_post* post = ExchangeOf(handle)->post;
  return post->is_cancelled(post) != 0 ? JNI_TRUE : JNI_FALSE;
}

void JNICALL SetNetwork(JNIEnv*, jclass, jint network) { jankbox_set_network(network); }

void JNICALL SetUpload(JNIEnv*, jclass, jboolean allowed) { jankbox_set_upload(allowed); }

jint JNICALL ResetInstallationId(JNIEnv*, jclass) { return jankbox_reset_installation_id(); }

}  // namespace

void AddUploadMethods(std::vector<JNINativeMethod>* methods) {
  const auto add = [methods](const char* name, const char* signature, void* function) {
    methods->push_back({const_cast<char*>(name), const_cast<char*>(signature), function});
  };
  add("answerPost", "(JILjava/lang/String;[BI)V", reinterpret_cast<void*>(AnswerPost));
  add("failPost", "(JLjava/lang/String;)V", reinterpret_cast<void*>(FailPost));
  add("postCancelled", "(J)Z", reinterpret_cast<void*>(PostCancelled));
  add("setNetwork", "(I)V", reinterpret_cast<void*>(SetNetwork));
  add("setUpload", "(Z)V", reinterpret_cast<void*>(SetUpload));
  add("resetInstallationId", "()I", reinterpret_cast<void*>(ResetInstallationId));
}

bool UploadThroughJava(JavaVM* vm, JNIEnv* env, jclass native) {
  g_callback.vm = vm;
  g_callback.native = static_cast<jclass>(env->NewGlobalRef(native));
  g_callback.post = env->GetStaticMethodID(
      native, "post", "(JLjava/lang/String;Ljava/lang/String;Ljava/lang/String;IJII)V");
  if (g_callback.native == nullptr || g_callback.post == nullptr) return false;
  jankbox_set_transport(PostThroughJava, nullptr);
  return true;
}

}  // namespace jankbox
